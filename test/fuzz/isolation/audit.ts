import { deepEqual } from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type ApiResponse, fetchApi } from '../../support/api.ts';
import { expectedResponse } from './model.ts';
import { type Request, type Poll, type RequestPlan, addressOf, requestOf, surveysOf } from './requests.ts';
import { type Account, type Clock, type Key, type World, pickOf } from './world.ts';

/** The smallest body that is compressed, in bytes. */
const MIN_COMPRESSED_BYTES = 1024;
const MARKER = /mk[0-9a-f]{32}km/g;

/** Observations over all cases. */
export interface History {
  /** How often each kind of request got each status. */
  readonly seen: Map<string, number>;
  /** The account and body that each tag identifies. */
  readonly owners: Map<string, string>;
}

/** How a request is sent. */
interface SendOptions {
  readonly head: boolean;
  readonly gzip: boolean;
  /** `If-None-Match`. */
  readonly tag?: string | undefined;
  /** The current tag of the response. If `tag` equals it, the status must be 304. */
  readonly current?: string | null;
}

/** Sends the requests of a world's accounts and compares every response with the model. */
export class Audit {
  readonly #world: World;
  readonly #clock: Clock;
  readonly #history: History;
  /** All tags of this world's responses. */
  readonly #tags = new Set<string>();

  constructor(world: World, clock: Clock, history: History) {
    this.#world = world;
    this.#clock = clock;
    this.#history = history;
  }

  /** Sends a request. If its response and the plan have a tag, sends it again with a tag. */
  async try({ head, gzip, tag, ...plan }: RequestPlan): Promise<void> {
    const request = requestOf(this.#world, plan);
    const any = tag === undefined ? undefined : pickOf([...this.#tags], tag >> 1);
    if (tag === undefined || !expectedResponse(request).tagged) {
      await this.#send(request, { head, gzip, tag: any });
      return;
    }
    const current = (await this.#send(request, { head, gzip })).headers.get('ETag');
    await this.#send(request, { head, gzip, tag: (tag % 2 === 0 ? current : any) ?? 'W/"none"', current });
  }

  /** Sends the same request for every account at the same time. */
  async poll(poll: Poll): Promise<void> {
    await Promise.all(this.#world.map((_, account) => this.try({ ...poll, account })));
  }

  /** Lists surveys with the chosen keys, at the same time. */
  async tryKeys(which: (key: Key, account: Account) => boolean): Promise<void> {
    const keys = this.#world.flatMap((account) => account.keys.map((key) => ({ account, key })));
    const chosen = keys.filter(({ account, key }) => which(key, account));
    await Promise.all(
      chosen.map(({ account, key }) => this.#send(surveysOf(account, key), { head: false, gzip: true })),
    );
  }

  async #send(request: Request, { head, gzip, tag, current }: SendOptions): Promise<ApiResponse> {
    const { account, key, path, wide } = request;
    const method = head ? 'HEAD' : 'GET';
    const address = addressOf(request);
    const accepted = gzip ? 'gzip' : 'identity';
    const clock = { 'Test-Clock-Ahead': String(this.#clock.ahead), 'Accept-Encoding': accepted };
    const headers = tag === undefined ? clock : { ...clock, 'If-None-Match': tag };
    const response = await fetchApi(address, { key: key.token, method, headers });

    const { status, body, total, tagged } = expectedResponse(request);
    const owner = `${account.id} ${hash('sha256', body)}`;
    const unchanged = tag !== undefined && tag === current;
    const given = response.headers.get('ETag');
    const encoding = response.headers.get('Content-Encoding');
    const isLarge = response.status === 200 && response.bytes.length >= MIN_COMPRESSED_BYTES;
    const sender = `account ${this.#world.indexOf(account)} with key ${account.keys.indexOf(key)}`;
    const described = `${sender}: ${method} ${address} ${JSON.stringify(headers)}`;
    const found = {
      status: response.status,
      total: response.headers.get('X-Total-Count'),
      body: response.text,
      tag: given && this.#ownerOf(given, owner),
      encoding,
      leaks: this.#leaksIn(request, response),
    };
    const expected = {
      status: unchanged ? 304 : status,
      total,
      body: unchanged || head ? '' : body,
      tag: tagged ? owner : null,
      encoding: gzip && !isLarge ? encoding : gzip ? 'gzip' : null,
      leaks: [],
    };
    try {
      deepEqual(found, expected);
    } catch (error) {
      throw new Error(`${described}: ${(error as Error).message}`, { cause: error });
    }
    const kind = `${method} ${path}${wide && path === '/responses/csv' ? ' wide' : ''} ${response.status}`;
    const { seen } = this.#history;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    return response;
  }

  /** The account and body that a tag identifies: those of the first response that had it. */
  #ownerOf(tag: string, now: string): string {
    const { owners } = this.#history;
    this.#tags.add(tag);
    if (!owners.has(tag)) owners.set(tag, now);
    return owners.get(tag) ?? now;
  }

  /** Ids and markers of other accounts in a response, independent of the model. */
  #leaksIn({ account, key }: Request, { headers, text }: ApiResponse): string[] {
    const all = `${text}\n${[...headers].join('\n')}`;
    const others = this.#world.filter((other) => !key.valid || other !== account);
    const ids = [...others, ...others.flatMap(({ forms }) => forms)].map(({ id }) => id);
    const markers = (all.match(MARKER) ?? []).filter((marker) => !key.valid || marker !== account.marker);
    return [...ids.filter((id) => all.includes(id)), ...markers];
  }
}
