import { deepEqual } from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type Answer, ask } from '../../support/api.ts';
import { answerTo } from './model.ts';
import { type Request, type Poll, type RequestPlan, addressOf, requestOf, surveysOf } from './requests.ts';
import { type Account, type Clock, type Key, type World, pickOf } from './world.ts';

/** How many bytes a body has at least that comes compressed. */
const WORTH_COMPRESSING = 1024;
const MARKER = /mk[0-9a-f]{32}km/g;

/** What happened in all worlds. */
export interface History {
  /** How often what was asked and was answered. */
  readonly seen: Map<string, number>;
  /** For whom, and for which body, each tag was given. */
  readonly owners: Map<string, string>;
}

/** How a request is made. */
interface Manner {
  readonly head: boolean;
  readonly gzip: boolean;
  /** For `If-None-Match`. */
  readonly tag?: string | undefined;
  /** The tag by which the answer is known to be the same as before. */
  readonly present?: string | null;
}

/** Asks on behalf of a world's accounts, and holds every answer against the model. */
export class Audit {
  readonly #world: World;
  readonly #clock: Clock;
  readonly #history: History;
  /** Those that this world was given. */
  readonly #tags = new Set<string>();

  constructor(world: World, clock: Clock, history: History) {
    this.#world = world;
    this.#clock = clock;
    this.#history = history;
  }

  /** Asks; if the answer has a tag and one is to be sent, once more with that. */
  async try({ head, gzip, tag, ...plan }: RequestPlan): Promise<void> {
    const request = requestOf(this.#world, plan);
    const any = tag === undefined ? undefined : pickOf([...this.#tags], tag >> 1);
    if (tag === undefined || !answerTo(request).tagged) {
      await this.#ask(request, { head, gzip, tag: any });
      return;
    }
    const present = (await this.#ask(request, { head, gzip })).headers.get('ETag');
    await this.#ask(request, { head, gzip, tag: (tag % 2 === 0 ? present : any) ?? 'W/"none"', present });
  }

  /** Asks the same for every account at once. */
  async poll(poll: Poll): Promise<void> {
    await Promise.all(this.#world.map((_, account) => this.try({ ...poll, account })));
  }

  /** Asks with keys of all accounts at once. */
  async tryKeys(which: (key: Key, account: Account) => boolean): Promise<void> {
    const keys = this.#world.flatMap((account) => account.keys.map((key) => ({ account, key })));
    const wanted = keys.filter(({ account, key }) => which(key, account));
    await Promise.all(
      wanted.map(({ account, key }) => this.#ask(surveysOf(account, key), { head: false, gzip: true })),
    );
  }

  async #ask(request: Request, { head, gzip, tag, present }: Manner): Promise<Answer> {
    const { account, key, path, wide } = request;
    const method = head ? 'HEAD' : 'GET';
    const address = addressOf(request);
    const accepted = gzip ? 'gzip' : 'identity';
    const clock = { 'Test-Clock-Ahead': String(this.#clock.ahead), 'Accept-Encoding': accepted };
    const headers = tag === undefined ? clock : { ...clock, 'If-None-Match': tag };
    const answer = await ask(address, { key: key.token, method, headers });

    const { status, body, total, tagged } = answerTo(request);
    const owner = `${account.id} ${hash('sha256', body)}`;
    const unchanged = tag !== undefined && tag === present;
    const given = answer.headers.get('ETag');
    const encoding = answer.headers.get('Content-Encoding');
    const isLarge = answer.status === 200 && answer.bytes.length >= WORTH_COMPRESSING;
    const who = `account ${this.#world.indexOf(account)} with key ${account.keys.indexOf(key)}`;
    const question = `${who}: ${method} ${address} ${JSON.stringify(headers)}`;
    const found = {
      status: answer.status,
      total: answer.headers.get('X-Total-Count'),
      body: answer.text,
      tag: given && this.#ownerOf(given, owner),
      encoding,
      ofOthers: this.#foundOfOthers(request, answer),
    };
    const expected = {
      status: unchanged ? 304 : status,
      total,
      body: unchanged || head ? '' : body,
      tag: tagged ? owner : null,
      encoding: gzip && !isLarge ? encoding : gzip ? 'gzip' : null,
      ofOthers: [],
    };
    try {
      deepEqual(found, expected);
    } catch (error) {
      throw new Error(`${question}: ${(error as Error).message}`, { cause: error });
    }
    const kind = `${method} ${path}${wide && path === '/responses/csv' ? ' wide' : ''} ${answer.status}`;
    const { seen } = this.#history;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    return answer;
  }

  /** A tag stands for one account's one body, for ever. */
  #ownerOf(tag: string, now: string): string {
    const { owners } = this.#history;
    this.#tags.add(tag);
    if (!owners.has(tag)) owners.set(tag, now);
    return owners.get(tag) ?? now;
  }

  /** What the answer has that is not the account's, whatever the model says of it. */
  #foundOfOthers({ account, key }: Request, { headers, text }: Answer): string[] {
    const all = `${text}\n${[...headers].join('\n')}`;
    const others = this.#world.filter((other) => !key.good || other !== account);
    const ids = [...others, ...others.flatMap(({ forms }) => forms)].map(({ id }) => id);
    const markers = (all.match(MARKER) ?? []).filter((marker) => !key.good || marker !== account.marker);
    return [...ids.filter((id) => all.includes(id)), ...markers];
  }
}
