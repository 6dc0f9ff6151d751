/**
 * What the Worker may have under gzip. Cloudflare refuses more than 3 MB on the free plan and 10 MB on the paid one; long
 * before that, an isolate takes longer to start with every kilobyte. It had 249 KiB when this was written: there is room for
 * features, and none for another large dependency without somebody noticing.
 */
export const BUDGET_KIB = 320;

export function sizeProblems(gzipBytes: number): string[] {
  const kib = gzipBytes / 1024;
  if (kib <= BUDGET_KIB) return [];
  return [
    `The Worker has ${kib.toFixed(1)} KiB under gzip, ${BUDGET_KIB} are allowed; see what has come in with "npx wrangler deploy --dry-run --outdir dist --metafile", or raise the budget in tools/deploy/bundle-size.ts`,
  ];
}
