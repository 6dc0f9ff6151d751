import type { Component, System } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { curlFor } from '../shared/curl.ts';
import { isPart } from './beginning.ts';
import { indent } from './indent.ts';

const CUT = 'Only the beginning of the response was read. The curl command gets all of it.';

interface Described {
  readonly source?: string;
}

/** The properties of Swagger UI's component for the body of a response. */
interface Body {
  readonly content: Blob | string;
  readonly contentType: string;
  readonly getComponent: (name: string) => Component;
}

interface Sent {
  readonly request: { readonly get: (name: 'url') => string };
  readonly getComponent: Body['getComponent'];
}

/** What differs from Swagger UI. */
export function plugin({ React: { createElement } }: System) {
  /** Text with code between backticks, without Swagger UI's use of `innerHTML`. */
  const Markdown = ({ source = '' }: Described) => {
    const paragraphs = source.split('\n\n').map((paragraph) => {
      const parts = paragraph.split('`');
      return createElement(
        'p',
        null,
        ...parts.map((part, i) => (i % 2 === 1 ? createElement('code', null, part) : part)),
      );
    });
    return createElement('div', { className: 'markdown' }, ...paragraphs);
  };

  /**
   * Shows the beginning of a body as text. Swagger UI would parse JSON, and so round numbers, and
   * offer to save files of which only the beginning has been read.
   */
  const responseBody = (Original: Component) => (properties: Body) => {
    const { content, contentType, getComponent } = properties;
    const isCut = isPart(content);
    const note = isCut ? createElement('p', null, CUT) : '';
    if (typeof content !== 'string') return isCut ? note : createElement(Original, properties);

    const isJson = contentType.startsWith('application/json');
    const text = createElement(
      getComponent('HighlightCode'),
      { getComponent, language: isJson ? 'json' : 'plaintext', canCopy: true },
      isJson ? indent(content) : content,
    );
    return createElement('div', null, note, text);
  };

  /** The command without the key, which Swagger UI would show. */
  const curl = ({ request, getComponent }: Sent) => {
    const { origin, pathname, searchParams } = new URL(request.get('url'), location.href);
    const command = curlFor({
      url: origin + pathname,
      pairs: [...searchParams],
      needsKey: pathname.startsWith('/api/'),
      file: undefined,
    });
    return createElement(
      'div',
      null,
      createElement('h4', null, 'curl'),
      createElement(
        getComponent('HighlightCode'),
        { getComponent, language: 'bash', canCopy: true },
        command,
      ),
    );
  };

  /** The field for the key. Browsers would offer what is entered in a text field again later. */
  const Input = (Original: Component) => (properties: { readonly id?: string }) => {
    const isKey = properties.id === 'auth-bearer-value';
    const hidden = { type: 'password', autoComplete: 'one-time-code' };
    return createElement(Original, isKey ? { ...properties, ...hidden } : properties);
  };

  return { components: { Markdown, curl }, wrapComponents: { Input, responseBody } };
}
