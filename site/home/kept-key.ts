/*
 * The key that is kept in this tab, in sessionStorage. Tabs that open meanwhile request it on a
 * BroadcastChannel, which only pages of this origin in this browser profile receive. A key that is not kept is not sent.
 */

const NAME = 'key';

type Message =
  | { readonly ask: number }
  | { readonly to: number; readonly key: string }
  | { readonly forget: true };

/** Keeps the key in this tab, or forgets it. If the browser blocks storage, a reload loses it. */
export function keepKey(key?: string): void {
  try {
    if (key === undefined) sessionStorage.removeItem(NAME);
    else sessionStorage.setItem(NAME, key);
  } catch {}
}

export function keptKey(): string | null {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}

/**
 * Sends this tab's kept key to tabs that request it and, if it keeps none, requests one from the
 * others.
 *
 * @param on.key called with another tab's kept key
 * @param on.forget called if this tab keeps a key and another has forgotten its own: so must this
 * one
 * @returns forget: makes every tab that keeps a key forget it
 */
export function otherTabs(on: {
  readonly key: (key: string) => void;
  readonly forget: () => void;
}) {
  const own = Math.random();
  let isAsking = keptKey() === null;
  let channel: BroadcastChannel;
  try {
    channel = new BroadcastChannel(NAME);
  } catch {
    return { forget: () => {} }; // storage is blocked
  }

  const send = (message: Message) => channel.postMessage(message);
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const key = keptKey();

    if ('ask' in data && key !== null) send({ to: data.ask, key });
    else if ('forget' in data) {
      isAsking = false;
      keepKey();
      if (key !== null) on.forget();
    } else if ('to' in data && data.to === own && isAsking) {
      isAsking = false;
      on.key(data.key);
    }
  });

  if (isAsking) send({ ask: own });
  return { forget: () => send({ forget: true }) };
}
