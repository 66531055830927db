/** What Vite makes of a style sheet that is imported: a part of the page, and no value. */
declare module '*.css';

/** What Vite makes of a source that is imported as it stands. */
declare module '*?raw' {
  const text: string;
  export default text;
}
