-- The answers of a participant, in order: for the filter by participant and for exports with one record per participant.
-- On a large table that is in use, create it beforehand, with "create index concurrently": this then does nothing.
create index if not exists responses_by_participant on responses (surveyid, userid, timestamp, question_ref);
