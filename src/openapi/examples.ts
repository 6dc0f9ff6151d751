/** Example responses, from the demo data of `npm start`. */

const TOKEN =
  'WzEsIjIwMjYtMDEtMDZUMDY6MDA6MDAuMDAwWiIsIjkyNzI5MDgzMjcxNjg2NjAiLCJjb25zZW50IiwiYWY1MDIxZmUtMjI3OS00NGZlLThmOWUtMzk4MGVkZmMwZmU3Il0';

const SURVEY = {
  id: '2bcca5bb-2bb8-41f8-a89b-f66be0f825e9',
  survey_name: 'Health & Habits 2026 – Saúde',
  shortcode: 'healthfood',
  title: 'What we eat',
  formid: '88992361',
  created: '2026-02-02T09:00:00.000Z',
  metadata: { wave: 1 },
  translation_conf: {},
  off_time: null,
  timeouts: null,
};

const RESPONSE = {
  parent_surveyid: 'af5021fe-2279-44fe-8f9e-3980edfc0fe7',
  parent_shortcode: 'healthstart',
  shortcode: 'healthstart',
  surveyid: 'af5021fe-2279-44fe-8f9e-3980edfc0fe7',
  flowid: '1600000000850',
  userid: '9272908327168660',
  question_ref: 'consent',
  question_idx: '0',
  question_text: 'Do you want to take part?',
  response: 'Ndiyo',
  timestamp: '2026-01-06T06:00:00.000Z',
  metadata: { cluster: 'cluster 12', language: 'sw' },
  pageid: '104882517369924467',
  translated_response: 'Yes',
  token: TOKEN,
};

const CSV = `parent_surveyid,parent_shortcode,surveyid,flowid,userid,question_ref,question_idx,question_text,response,timestamp,metadata,ad_id,pageid,translated_response
af5021fe-2279-44fe-8f9e-3980edfc0fe7,healthstart,af5021fe-2279-44fe-8f9e-3980edfc0fe7,1600000000850,9272908327168660,consent,0,Do you want to take part?,Ndiyo,2026-01-06T06:00:00.000Z,"{""cluster"": ""cluster 12"", ""language"": ""sw""}",,104882517369924467,Yes
`;

const FORM_DATA = `surveyid,shortcode,survey_name,version,survey_created,metadata
7fd35bd3-9e08-42a9-8352-e5065edab537,healthfood,Health & Habits 2026 – Saúde,1,2026-01-05T09:00:00.123456Z,"{""wave"": 1}"
`;

export const examples = {
  token: TOKEN,
  surveys: [SURVEY],
  page: { responses: [RESPONSE] },
  ndjson: `${JSON.stringify(RESPONSE)}\n`,
  csv: CSV,
  formData: FORM_DATA,
};
