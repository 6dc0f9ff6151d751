/** The path at which a file is served. */
declare module '*.svg' {
  const path: string;
  export default path;
}
