/** The texts of the modules that the pages share. */
export const shared = {
  key: 'API key',
  show: 'Show',
  hide: 'Hide',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'Copy failed',
};
