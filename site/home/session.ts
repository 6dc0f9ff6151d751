import type { Api } from './api.ts';
import type { Downloads } from './downloads.ts';
import type { Limits } from './limits.ts';
import type { Results } from './api-results.ts';
import type { Summaries } from './summaries.ts';

/** What every view works with. */
export interface Session {
  readonly api: Api;
  readonly results: Results;
  readonly summaries: Summaries;
  /** The e-mail address of the key's account. */
  readonly email: string;
  /** When the key expires; null for never. */
  readonly expires: string | null;
  /** What the key sees, as the API describes it; null for everything. */
  readonly limits: Limits | null;
  /** They continue when the view changes. */
  readonly downloads: Downloads;
}
