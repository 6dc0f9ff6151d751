import { html } from '../dom.ts';
import type { ViewContext } from '../view.ts';
import { daysView } from './days.ts';
import { glanceView } from './glance.ts';
import { questionsView } from './questions.ts';

/** How many answers there are, when they came, and what was answered. */
export const resultsView = (context: ViewContext): HTMLElement =>
  html.div(
    'results',
    // the order in which they are requested
    html.div('summary', glanceView(context), daysView(context)),
    questionsView(context),
  );
