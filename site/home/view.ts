import type { Values } from './selection.ts';
import type { Session } from './session.ts';

/** What a view of a survey shows, and how it changes it. */
export interface ViewContext {
  readonly session: Session;
  /** With `survey`. */
  readonly selection: URLSearchParams;
  /**
   * Changes parameters. The view is created again if a filter changes.
   *
   * @returns the new selection
   */
  readonly change: (values: Values) => URLSearchParams;
  readonly signal: AbortSignal;
}
