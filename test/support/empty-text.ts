// Replaces the reference page's files when a test loads the app on Node, which has no text modules.
export default '';
