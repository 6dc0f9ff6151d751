import api from './pages/home/api.mjs';
import chart from './pages/home/chart.mjs';
import choices from './pages/home/choices.mjs';
import code from './pages/home/code.mjs';
import controls from './pages/home/controls.mjs';
import counts from './pages/home/counts.mjs';
import dates from './pages/home/dates.mjs';
import downloads from './pages/home/downloads.mjs';
import card from './pages/home/downloads/card.mjs';
import download from './pages/home/downloads/download.mjs';
import records from './pages/home/downloads/records.mjs';
import storage from './pages/home/downloads/storage.mjs';
import transfer from './pages/home/downloads/transfer.mjs';
import form from './pages/home/form.mjs';
import homeStyle from './pages/home/home.css';
import home from './pages/home/home.html';
import homeKey from './pages/home/key.mjs';
import lists from './pages/home/lists.mjs';
import loaded from './pages/home/loaded.mjs';
import longText from './pages/home/long-text.mjs';
import homeMain from './pages/home/main.mjs';
import newest from './pages/home/newest.mjs';
import offers from './pages/home/offers.mjs';
import overview from './pages/home/overview.mjs';
import periods from './pages/home/periods.mjs';
import questions from './pages/home/questions.mjs';
import selection from './pages/home/selection.mjs';
import survey from './pages/home/survey.mjs';
import surveys from './pages/home/surveys.mjs';
import homeTexts from './pages/home/texts.mjs';
import description from './pages/reference/description.mjs';
import fields from './pages/reference/fields.mjs';
import indent from './pages/reference/indent.mjs';
import referenceMain from './pages/reference/main.mjs';
import operation from './pages/reference/operation.mjs';
import referenceStyle from './pages/reference/reference.css';
import reference from './pages/reference/reference.html';
import responses from './pages/reference/responses.mjs';
import result from './pages/reference/result.mjs';
import baseStyle from './pages/shared/base.css';
import csv from './pages/shared/csv.mjs';
import curl from './pages/shared/curl.mjs';
import dom from './pages/shared/dom.mjs';
import icon from './pages/shared/icon.svg';
import keyField from './pages/shared/key-field.mjs';
import request from './pages/shared/request.mjs';
import size from './pages/shared/size.mjs';
import sharedTexts from './pages/shared/texts.mjs';

/** The page for people: `/`. */
export const HOME = home;
/** The API reference: `/docs`. */
export const REFERENCE = reference;

/** What the pages load, by path below `/pages`. */
export const FILES: Readonly<Record<string, string>> = {
  '/home/api.mjs': api,
  '/home/chart.mjs': chart,
  '/home/choices.mjs': choices,
  '/home/code.mjs': code,
  '/home/controls.mjs': controls,
  '/home/counts.mjs': counts,
  '/home/dates.mjs': dates,
  '/home/downloads.mjs': downloads,
  '/home/downloads/card.mjs': card,
  '/home/downloads/download.mjs': download,
  '/home/downloads/records.mjs': records,
  '/home/downloads/storage.mjs': storage,
  '/home/downloads/transfer.mjs': transfer,
  '/home/form.mjs': form,
  '/home/home.css': homeStyle,
  '/home/key.mjs': homeKey,
  '/home/lists.mjs': lists,
  '/home/loaded.mjs': loaded,
  '/home/long-text.mjs': longText,
  '/home/main.mjs': homeMain,
  '/home/newest.mjs': newest,
  '/home/offers.mjs': offers,
  '/home/overview.mjs': overview,
  '/home/periods.mjs': periods,
  '/home/questions.mjs': questions,
  '/home/selection.mjs': selection,
  '/home/survey.mjs': survey,
  '/home/surveys.mjs': surveys,
  '/home/texts.mjs': homeTexts,
  '/reference/description.mjs': description,
  '/reference/fields.mjs': fields,
  '/reference/indent.mjs': indent,
  '/reference/main.mjs': referenceMain,
  '/reference/operation.mjs': operation,
  '/reference/reference.css': referenceStyle,
  '/reference/responses.mjs': responses,
  '/reference/result.mjs': result,
  '/shared/base.css': baseStyle,
  '/shared/csv.mjs': csv,
  '/shared/curl.mjs': curl,
  '/shared/dom.mjs': dom,
  '/shared/icon.svg': icon,
  '/shared/key-field.mjs': keyField,
  '/shared/request.mjs': request,
  '/shared/size.mjs': size,
  '/shared/texts.mjs': sharedTexts,
};
