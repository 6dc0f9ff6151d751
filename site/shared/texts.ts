/** The texts of the modules that the pages share. */
export const shared = {
  key: 'API key',
  show: 'Show key',
  hide: 'Hide key',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'Copy failed',
};
