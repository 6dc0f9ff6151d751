-- Query a CSV file
--
-- Reads `responses.csv`, every column as text. `allow_quoted_nulls = false` keeps a missing value (an empty cell, read as `NULL`) and
-- an empty answer (`""`, read as an empty text) apart. The last statement writes a Parquet file, which has the columns' types.

create or replace temp view responses as
from read_csv('responses.csv', header = true, delim = ',', quote = '"', escape = '"', new_line = '\n',
  all_varchar = true, nullstr = '', allow_quoted_nulls = false, max_line_size = 16777216);

-- Each participant's latest answer to each question, and a value of the metadata. Times do not sort correctly as text: some have 3
-- fraction digits, some 6.
select userid, question_ref, response, metadata ->> '$.platform' as platform
from responses
qualify row_number() over (partition by userid, question_ref order by timestamp::timestamp desc, surveyid desc) = 1
order by userid, timestamp::timestamp
limit 10;

copy (from responses) to 'responses.parquet' (format parquet);
