import curl from './reference/curl.mjs';
import description from './reference/description.mjs';
import dom from './reference/dom.mjs';
import fields from './reference/fields.mjs';
import icon from './reference/icon.svg';
import indent from './reference/indent.mjs';
import main from './reference/main.mjs';
import operation from './reference/operation.mjs';
import style from './reference/page.css';
import page from './reference/page.html';
import request from './reference/request.mjs';
import responses from './reference/responses.mjs';
import result from './reference/result.mjs';

/** A file of the reference page. */
export interface PageFile {
  readonly type: string;
  readonly text: string;
}

const script = (text: string): PageFile => ({ type: 'text/javascript; charset=utf-8', text });

const reference: PageFile = { type: 'text/html; charset=utf-8', text: page };

/** The reference page and everything it loads, by path. */
export const FILES: Readonly<Record<string, PageFile>> = {
  '/docs': reference,
  '/docs/': reference,
  '/docs/page.css': { type: 'text/css; charset=utf-8', text: style },
  '/docs/icon.svg': { type: 'image/svg+xml', text: icon },
  '/docs/main.mjs': script(main),
  '/docs/curl.mjs': script(curl),
  '/docs/description.mjs': script(description),
  '/docs/dom.mjs': script(dom),
  '/docs/fields.mjs': script(fields),
  '/docs/indent.mjs': script(indent),
  '/docs/operation.mjs': script(operation),
  '/docs/request.mjs': script(request),
  '/docs/responses.mjs': script(responses),
  '/docs/result.mjs': script(result),
};
