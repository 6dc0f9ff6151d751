/* The files of the pages: `rules` in wrangler.toml turns them into modules that export their text. */
declare module '*.html' {
  const text: string;
  export default text;
}
declare module '*.css' {
  const text: string;
  export default text;
}
declare module '*.svg' {
  const text: string;
  export default text;
}
declare module '*.mjs' {
  const text: string;
  export default text;
}
