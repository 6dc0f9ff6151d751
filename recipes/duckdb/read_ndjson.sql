-- Query an NDJSON file
--
-- Reads `responses.ndjson`. The columns are listed, so that DuckDB does not guess their types; `metadata` stays JSON.

create or replace temp view responses as
from read_ndjson('responses.ndjson', maximum_object_size = 16777216, columns = {
  shortcode: 'varchar', surveyid: 'varchar', userid: 'varchar', question_ref: 'varchar', response: 'varchar',
  translated_response: 'varchar', timestamp: 'varchar', metadata: 'json', token: 'varchar'
});

-- Answers by language.
select question_ref, metadata ->> '$.language' as language, coalesce(translated_response, response) as answer, count(*) as people
from responses
where question_ref in ('consent', 'health')
group by all
order by all;

copy (from responses) to 'responses-from-ndjson.parquet' (format parquet);
