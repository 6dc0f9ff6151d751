-- Treatment arms, by which /responses/answers groups records: FarmHash's Fingerprint32 of a number's decimal text, of the
-- result's, and so on, for numbers of 32 bits. See src/encode/farmhash.ts.
create function farmhash_fingerprint32(number bigint, times integer) returns bigint
language plpgsql immutable strict parallel safe as $$
declare
  mask constant bigint := 4294967295;
  -- Those that are 2^31 or more less 2^32, so that no product overflows.
  c1 constant bigint := -862048943;
  c2 constant bigint := 461845907;
  c3 constant bigint := 3864292196;
  c4 constant bigint := -2048144789;
  c5 constant bigint := -1028477387;
  size integer;
  digits bigint;
  a bigint;
  b bigint;
  hash bigint;
begin
  for i in 1 .. times loop
    size := length(number::text);
    if size > 4 then
      -- Four digits of the text are the bytes of a little-endian integer: those at its start, at its end, and at a place between.
      digits := number / (10 ^ (size - 4))::bigint;
      a := digits / 1000 + (digits / 100 % 10 << 8) + (digits / 10 % 10 << 16) + (digits % 10 << 24) + 808464432;
      b := a;
      if size >= 8 then
        digits := number / (10 ^ (size - 8))::bigint % 10000;
        b := digits / 1000 + (digits / 100 % 10 << 8) + (digits / 10 % 10 << 16) + (digits % 10 << 24) + 808464432;
      end if;
      a := (a + size) * c1 & mask;
      hash := 5 * size # ((((a >> 17) | (a << 15)) & mask) * c2 & mask);
      hash := (((hash >> 19) | (hash << 13)) & mask) * 5 + c3 & mask;
      digits := number % 10000;
      a := digits / 1000 + (digits / 100 % 10 << 8) + (digits / 10 % 10 << 16) + (digits % 10 << 24) + 808464432 + 5 * size;
      b := b + 9;
    else
      a := size;
      b := 0;
      hash := 9;
      for j in 1 .. size loop
        b := b * c1 + ascii(substr(number::text, j)) & mask;
        hash := hash # b;
      end loop;
    end if;

    a := a * c1 & mask;
    hash := hash # ((((a >> 17) | (a << 15)) & mask) * c2 & mask);
    hash := (((hash >> 19) | (hash << 13)) & mask) * 5 + c3 & mask;
    b := b * c1 & mask;
    hash := hash # ((((b >> 17) | (b << 15)) & mask) * c2 & mask);
    hash := (((hash >> 19) | (hash << 13)) & mask) * 5 + c3 & mask;
    hash := (hash # (hash >> 16)) * c4 & mask;
    hash := (hash # (hash >> 13)) * c5 & mask;
    number := hash # (hash >> 16);
  end loop;
  return number;
end
$$;

-- The right of all roles to execute functions may have been revoked.
grant execute on function farmhash_fingerprint32(bigint, integer) to survey_export_worker;
