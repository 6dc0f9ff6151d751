// Stands for the reference page's files where a test loads the app on Node, which has no text modules.
export default '';
