-- A participant's responses, in order: for the filter by participant and for exports with one record per participant.
-- On a large table in use, create the index beforehand with "create index concurrently"; this migration then does nothing.
create index if not exists responses_by_participant on responses (surveyid, userid, timestamp, question_ref);
