import { curlFor } from '../shared/curl.ts';
import { isPart } from './beginning.ts';
import { indent } from './indent.ts';

const CUT = 'Only the beginning of the response was read. The curl command gets all of it.';

/** A function that makes an element of properties, or the name of an HTML element. */
type Component = string | ((properties: never) => object);

/** What Swagger UI passes to plugins. */
interface System {
  readonly React: {
    readonly createElement: (
      component: Component,
      properties: object | null,
      ...children: readonly (object | string)[]
    ) => object;
  };
}

interface Described {
  readonly source?: string;
}

/** The properties of most components. */
interface Shown {
  readonly getComponent: (name: string) => Component;
}

interface Sent extends Shown {
  readonly request: { readonly get: (name: 'url') => string };
}

interface Received extends Shown {
  readonly content: Blob | string;
  readonly contentType: string;
}

/** What differs from Swagger UI. */
export function plugin({ React: { createElement } }: System) {
  /** Text with code between backticks, without Swagger UI's use of `innerHTML`. */
  const Markdown = ({ source = '' }: Described) => {
    const part = (text: string, i: number) =>
      i % 2 === 1 ? createElement('code', null, text) : text;
    const paragraph = (text: string) => createElement('p', null, ...text.split('`').map(part));
    return createElement('div', { className: 'markdown' }, ...source.split('\n\n').map(paragraph));
  };

  const listing = ({ getComponent }: Shown, language: string, text: string) =>
    createElement(getComponent('HighlightCode'), { getComponent, language, canCopy: true }, text);

  /** The command without the key, which Swagger UI would show. */
  const curl = (shown: Sent) => {
    const { origin, pathname, searchParams } = new URL(shown.request.get('url'), location.href);
    const command = curlFor({
      url: origin + pathname,
      pairs: [...searchParams],
      needsKey: pathname.startsWith('/api/'),
    });
    const title = createElement('h4', null, 'curl');
    return createElement('div', null, title, listing(shown, 'bash', command));
  };

  /** The field for the key. Browsers would offer what is entered in a text field again later. */
  const Input = (Original: Component) => (properties: { readonly id?: string }) => {
    const isKey = properties.id === 'auth-bearer-value';
    const hidden = { type: 'password', autoComplete: 'one-time-code' };
    return createElement(Original, isKey ? { ...properties, ...hidden } : properties);
  };

  /**
   * Shows the beginning of a body as text. Swagger UI would parse JSON, and so round numbers, and
   * offer to save files of which only the beginning has been read.
   */
  const responseBody = (Original: Component) => (shown: Received) => {
    const { content, contentType } = shown;
    const note = isPart(content) ? createElement('p', null, CUT) : '';
    if (typeof content !== 'string') return note || createElement(Original, shown);

    const isJson = contentType.startsWith('application/json');
    const text = isJson
      ? listing(shown, 'json', indent(content))
      : listing(shown, 'plaintext', content);
    return createElement('div', null, note, text);
  };

  return { components: { Markdown, curl }, wrapComponents: { Input, responseBody } };
}
