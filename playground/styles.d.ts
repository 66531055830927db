/** What Vite makes of a style sheet that is imported: a part of the page, and no value. */
declare module '*.css';
