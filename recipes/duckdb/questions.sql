-- Ask questions of a CSV
--
-- Reads `responses.csv`. The last statement writes the table as Parquet, which keeps the columns' types: whoever reads that file
-- cannot get them wrong.

create or replace temp view responses as
from read_csv('responses.csv', header = true, delim = ',', quote = '"', escape = '"', new_line = '\n',
  all_varchar = true, nullstr = '', allow_quoted_nulls = false, max_line_size = 16777216);

-- How many answers to each question, from how many people?
select question_ref, count(*) as answers, count(distinct userid) as people
from responses
group by question_ref
order by answers desc, question_ref;

-- How many people began in each week (in UTC, as all times are)?
select date_trunc('week', first_answer)::date as week, count(*) as people
from (select userid, min(timestamp::timestamp) as first_answer from responses group by userid)
group by week
order by week;

-- The latest answer of each person to each question. (As text, times would sort wrongly: some have 3 digits, some 6.)
select userid, question_ref, response, timestamp
from responses
qualify row_number() over (partition by userid, question_ref order by timestamp::timestamp desc, surveyid desc) = 1
order by userid, timestamp::timestamp
limit 10;

copy (select * from responses) to 'responses.parquet' (format parquet);
