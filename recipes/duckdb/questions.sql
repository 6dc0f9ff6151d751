-- Query a CSV file
--
-- Reads `responses.csv`. `all_varchar` reads every column as text. `allow_quoted_nulls = false` keeps the file's distinction
-- between a missing value (an empty cell, read as `NULL`) and an empty answer (`""`, read as an empty string). The last statement
-- writes the table as Parquet, which stores the columns' types, so programs that read it do not guess them. For the folder that
-- `pull_new.py` fills, write `'data/responses/*.csv.gz'`.

create or replace temp view responses as
from read_csv('responses.csv', header = true, delim = ',', quote = '"', escape = '"', new_line = '\n',
  all_varchar = true, nullstr = '', allow_quoted_nulls = false, max_line_size = 16777216);

-- Answers to each question, and the number of people who gave them.
select question_ref, count(*) as answers, count(distinct userid) as people
from responses
group by question_ref
order by answers desc, question_ref;

-- Each person's latest answer to each question, and a value from the metadata. (Times do not sort correctly as text: some have 3
-- fraction digits, some 6.)
select userid, question_ref, response, metadata ->> '$.platform' as platform
from responses
qualify row_number() over (partition by userid, question_ref order by timestamp::timestamp desc, surveyid desc) = 1
order by userid, timestamp::timestamp
limit 10;

copy (select * from responses) to 'responses.parquet' (format parquet);
