-- The distribution of a question's numbers, sorted, as JSON: docs/api.md, "Numbers". They have at most 15 digits.
-- All of it is exact: a number is multiplied by the inverse of a step, since a quotient would be rounded.
create function number_distribution(numbers numeric[]) returns text
language plpgsql immutable strict parallel safe as $$
declare
  last bigint := cardinality(numbers) - 1;
  quartiles numeric[]; -- from the minimum to the maximum
  step numeric;
  inverse numeric;
  bins text;
begin
  -- Linear interpolation between the numbers next to a place, which is counted in quarters.
  select array_agg(low + (high - low) * (place % 4) * 0.25 order by place) into quartiles
  from generate_series(0, 4) quarter, lateral (select quarter * last as place) at,
    lateral (select numbers[1 + place / 4] as low, numbers[1 + (place + 3) / 4] as high) neighbours;

  select candidate.step, candidate.inverse into step, inverse
  from (select max(min_scale(number)) as scale from unnest(numbers) number) numbers,
    generate_series(-scale, 14) power, unnest(array[1, 2, 5]) digit, lateral (
      select (digit || 'e' || power)::numeric as step, (10 / digit || 'e' || -1 - power)::numeric as inverse
    ) candidate
  where quartiles[1] < quartiles[5]
    and floor(quartiles[5] * candidate.inverse) - floor(quartiles[1] * candidate.inverse) < 20
  order by candidate.step
  limit 1;

  select string_agg(
      format('{"from":"%s","records":%s}', trim_scale(coalesce(multiple * step, quartiles[1])), records), ',' order by multiple
    ) into bins
  from (
    select multiple, count(number) as records
    from (
      select coalesce(floor(number * inverse), 0) as multiple, number from unnest(numbers) number
      union all
      select generate_series(floor(quartiles[1] * inverse), floor(quartiles[5] * inverse)), null
    ) part
    group by multiple
  ) bin;

  return format(
    '{"records":%s,"min":"%s","q1":"%s","median":"%s","q3":"%s","max":"%s","sum":"%s","step":%s,"bins":[%s]}',
    last + 1, trim_scale(quartiles[1]), trim_scale(quartiles[2]), trim_scale(quartiles[3]), trim_scale(quartiles[4]),
    trim_scale(quartiles[5]), (select trim_scale(sum(number)) from unnest(numbers) number),
    coalesce('"' || trim_scale(step) || '"', 'null'), bins
  );
end
$$;

grant execute on function number_distribution(numeric[]) to survey_export_worker;
