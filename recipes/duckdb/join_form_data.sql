-- Join responses with their form versions
--
-- Reads `responses.csv` and `form-data.csv`. Download the latter like the former, from `/responses/form-data` and without `count`.
-- `->>` extracts a value from JSON as text.

create or replace temp view responses as
from read_csv('responses.csv', header = true, delim = ',', quote = '"', escape = '"', new_line = '\n',
  all_varchar = true, nullstr = '', allow_quoted_nulls = false, max_line_size = 16777216);

create or replace temp view forms as
from read_csv('form-data.csv', header = true, delim = ',', quote = '"', escape = '"', new_line = '\n',
  all_varchar = true, nullstr = '', allow_quoted_nulls = false, max_line_size = 16777216);

create or replace temp view joined as
select responses.*, forms.shortcode, forms.version,
  responses.metadata ->> '$.platform' as platform,
  forms.metadata ->> '$.wave' as wave
from responses left join forms using (surveyid);

select shortcode, version, wave, platform, count(*) as answers
from joined
group by all
order by all;

copy (from joined) to 'joined.csv' (header, delimiter ',');
