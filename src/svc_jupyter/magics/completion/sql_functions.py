"""Functions of values and of rows that databases have built in, for completion: what people use, not every one."""

from __future__ import annotations

from functools import cache

from svc_jupyter.magics.completion.sql_words import words
from svc_jupyter.sql_tokens import Dialect

_EVERYWHERE = words(
    """abs avg coalesce count cume_dist dense_rank first_value lag last_value lead lower ltrim max min ntile nullif
    percent_rank rank replace round row_number rtrim sum trim upper"""
)
_MATHEMATICS = words("acos asin atan ceiling cos degrees exp floor pi power radians sign sin sqrt tan")
_STATISTICS = words("stddev stddev_pop stddev_samp var_pop var_samp variance")
_REGRESSIONS = words(
    """corr covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy"""
)
_SQLITE = words(
    """acosh asinh atan2 atanh ceil changes char cosh current_date current_time current_timestamp date datetime format
    glob group_concat hex ifnull iif instr json json_array json_array_length json_extract json_group_array
    json_group_object json_insert json_object json_patch json_quote json_remove json_replace json_set json_type
    json_valid julianday last_insert_rowid length like likelihood ln log log10 log2 mod nth_value pow printf quote
    random randomblob sinh strftime substr substring tanh time total total_changes trunc typeof unicode unixepoch
    zeroblob"""
)
_POSTGRESQL = words(
    """acosd acosh age array_agg array_append array_cat array_dims array_fill array_length array_lower array_ndims
    array_position array_positions array_prepend array_remove array_replace array_to_json array_to_string array_upper
    ascii asind asinh atan2 atan2d atand atanh bit_and bit_count bit_length bit_or bool_and bool_or btrim cardinality
    cbrt ceil char_length character_length chr clock_timestamp concat concat_ws convert_from convert_to cosd cosh cot
    current_catalog current_database current_date current_schema current_schemas current_setting current_time
    current_timestamp current_user currval date_bin date_part date_trunc decode div encode every extract factorial
    format format_type gcd gen_random_uuid generate_series generate_subscripts get_bit get_byte greatest grouping host
    initcap isempty isfinite json_agg json_array_elements json_array_elements_text json_array_length json_build_array
    json_build_object json_each json_each_text json_extract_path json_extract_path_text json_object json_object_agg
    json_object_keys json_populate_record json_populate_recordset json_strip_nulls json_to_record json_to_recordset
    json_typeof jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array
    jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object
    jsonb_object_agg jsonb_object_keys jsonb_path_exists jsonb_path_match jsonb_path_query jsonb_path_query_array
    jsonb_path_query_first jsonb_populate_record jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_strip_nulls
    jsonb_to_record jsonb_to_recordset jsonb_typeof justify_days justify_hours justify_interval lastval lcm least left
    length ln localtime localtimestamp log log10 lower_inc lower_inf lpad make_date make_interval make_time
    make_timestamp make_timestamptz masklen md5 min_scale mod mode netmask network nextval normalize now nth_value
    num_nonnulls num_nulls numrange octet_length overlay parse_ident percentile_cont percentile_disc pg_backend_pid
    pg_column_size pg_database_size pg_get_viewdef pg_relation_size pg_size_pretty pg_sleep pg_table_size
    pg_total_relation_size pg_typeof phraseto_tsquery plainto_tsquery position quote_ident quote_literal quote_nullable
    random range_agg regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table repeat
    reverse right row_to_json rpad scale session_user set_config setseed setval sha224 sha256 sha384 sha512 sind sinh
    split_part starts_with statement_timestamp string_agg string_to_array strpos substr substring tand tanh timeofday
    timezone to_ascii to_char to_date to_hex to_json to_jsonb to_number to_timestamp to_tsquery to_tsvector
    transaction_timestamp translate trim_scale trunc ts_headline ts_rank ts_rank_cd unnest upper_inc upper_inf version
    websearch_to_tsquery width_bucket"""
)
_REDSHIFT = words(
    """add_months ascii atan2 btrim cbrt ceil char_length charindex checksum chr concat convert_timezone cot crc32
    current_database current_date current_schema current_setting current_user date_part date_trunc dateadd datediff
    decode extract func_sha1 getdate greatest initcap is_valid_json is_valid_json_array json_array_length
    json_extract_array_element_text json_extract_path_text json_parse json_serialize json_typeof last_day least left len
    length listagg ln log lpad md5 median mod months_between next_day nth_value nvl nvl2 octet_length percentile_cont
    percentile_disc position quote_ident quote_literal random ratio_to_report regexp_count regexp_instr regexp_replace
    regexp_substr repeat replicate reverse right rpad sha1 sha2 split_part split_to_array strpos strtol substring
    sysdate to_char to_date to_hex to_number to_timestamp translate trunc version"""
)
_MYSQL = words(
    """adddate addtime aes_decrypt aes_encrypt ascii atan2 bin bit_and bit_count bit_length bit_or bit_xor cast ceil
    char char_length character_length charset coercibility collation compress concat concat_ws connection_id conv
    convert convert_tz cot crc32 curdate current_date current_time current_timestamp current_user curtime database date
    date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear elt extract field find_in_set
    format found_rows from_base64 from_days from_unixtime get_format get_lock greatest group_concat hex hour if ifnull
    inet_aton inet_ntoa insert instr interval isnull json_array json_array_append json_array_insert json_arrayagg
    json_contains json_contains_path json_depth json_extract json_insert json_keys json_length json_merge_patch
    json_merge_preserve json_object json_objectagg json_quote json_remove json_replace json_search json_set json_type
    json_unquote json_valid json_value last_day last_insert_id lcase least left length ln load_file localtime
    localtimestamp locate log log10 log2 lpad makedate maketime md5 microsecond mid minute mod month monthname now
    nth_value oct octet_length ord period_add period_diff position pow quarter quote rand regexp_instr regexp_replace
    regexp_substr release_lock repeat reverse right row_count rpad schema sec_to_time second session_user sha sha1 sha2
    sleep soundex space std str_to_date strcmp subdate substr substring substring_index subtime sysdate system_user time
    time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64 to_days to_seconds truncate ucase
    uncompress unhex unix_timestamp user utc_date utc_time utc_timestamp uuid version week weekday weekofyear year
    yearweek"""
)
_SQLSERVER = words(
    """approx_count_distinct ascii atn2 cast char charindex checksum checksum_agg choose concat concat_ws convert cot
    count_big current_timestamp current_user datalength dateadd datediff datediff_big datefromparts datename datepart
    datetime2fromparts datetimefromparts day db_name difference eomonth error_message format getdate getutcdate grouping
    grouping_id hashbytes host_name ident_current iif isdate isjson isnull isnumeric json_modify json_query json_value
    left len log log10 month nchar newid newsequentialid object_id object_name openjson parse parsename patindex
    percentile_cont percentile_disc quotename rand replicate reverse right rowcount_big schema_name scope_identity
    session_user soundex space square stdev stdevp str string_agg string_escape string_split stuff substring suser_sname
    switchoffset sysdatetime sysdatetimeoffset system_user sysutcdatetime timefromparts todatetimeoffset translate
    try_cast try_convert try_parse unicode user_name var varp year"""
)
_DUCKDB = words(
    """acosh age any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_min array_agg
    array_append array_concat array_contains array_cosine_distance array_cosine_similarity array_distance array_distinct
    array_extract array_filter array_has array_has_all array_has_any array_inner_product array_intersect array_length
    array_position array_prepend array_reverse array_reverse_sort array_slice array_sort array_to_json array_to_string
    array_transform array_unique array_value array_zip ascii asinh atan2 atanh bar base64 bin bit_and bit_count
    bit_length bit_or bit_position bit_xor bitstring bitstring_agg bool_and bool_or cardinality cbrt ceil century
    char_length chr concat concat_ws contains cosh cot count_if current_catalog current_database current_date
    current_query current_schema current_schemas current_setting current_time current_timestamp current_user currval
    damerau_levenshtein date_add date_diff date_part date_sub date_trunc datediff day dayname dayofmonth dayofweek
    dayofyear decade decode degrees element_at encode ends_with entropy enum_code enum_first enum_last enum_range epoch
    epoch_ms epoch_ns epoch_us equi_width_bins era error even extract factorial favg first flatten fmod format
    format_bytes from_base64 from_json fsum gamma gcd gen_random_uuid generate_series generate_subscripts get_bit
    getvariable greatest group_concat hamming hash hex histogram hour if ifnull instr isfinite isinf isnan isodow
    isoyear jaccard jaro_similarity jaro_winkler_similarity json_array json_array_length json_contains json_each
    json_exists json_extract json_extract_path json_extract_path_text json_extract_string json_group_array
    json_group_object json_keys json_merge_patch json_object json_pretty json_quote json_structure json_transform
    json_type json_valid json_value julian kurtosis last last_day lcase lcm least left len length levenshtein lgamma
    list list_aggregate list_append list_concat list_contains list_distinct list_element list_extract list_filter
    list_has_all list_has_any list_intersect list_position list_prepend list_reduce list_reverse list_reverse_sort
    list_select list_slice list_sort list_sum list_transform list_unique list_value list_where list_zip listagg ln log
    log10 log2 lpad mad make_date make_time make_timestamp make_timestamptz map map_concat map_contains map_entries
    map_extract map_from_entries map_keys map_values max_by md5 mean median microsecond millennium millisecond min_by
    minute mod mode month monthname nanosecond nextafter nextval now nth_value octet_length ord overlay parse_dirname
    parse_filename parse_path position pow prefix printf product quantile quantile_cont quantile_disc quarter random
    range reduce regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table repeat reservoir_quantile reverse right round_even row row_to_json rpad
    second set_bit setseed sha1 sha256 signbit sinh skewness split split_part starts_with strftime string_agg
    string_split string_split_regex strip_accents strlen strpos strptime struct_extract struct_insert struct_keys
    struct_pack substr substring suffix tanh time_bucket timezone to_base to_base64 to_binary to_days to_hex to_hours
    to_json to_microseconds to_milliseconds to_minutes to_months to_seconds to_timestamp to_weeks to_years today
    transaction_timestamp translate trunc try_strptime typeof ucase unhex unicode unnest url_decode url_encode uuid
    version week weekday weekofyear weighted_avg xor year yearweek"""
)
_HIVE = words(
    """acosh add_months aes_decrypt aes_encrypt array array_contains ascii asinh assert_true atanh base64 bin bround
    cast cbrt ceil character_length chr collect_list collect_set concat concat_ws conv cosh crc32 current_database
    current_date current_timestamp current_user date_add date_format date_sub datediff day dayofmonth dayofweek decode e
    elt encode explode extract factorial find_in_set format_number from_unixtime from_utc_timestamp get_json_object
    greatest grouping hash hex histogram_numeric hour if initcap inline input_file_name instr isnotnull isnull
    java_method json_tuple last_day lcase least length levenshtein ln locate log log10 log2 lpad map map_keys map_values
    mask md5 minute mod month months_between named_struct negative next_day nvl octet_length parse_url percentile
    percentile_approx pmod posexplode positive pow printf quarter quote rand reflect regexp_extract regexp_replace
    repeat reverse rint rpad second sentences sha sha1 sha2 shiftleft shiftright shiftrightunsigned sinh size sort_array
    soundex space split sqrt stack str_to_map struct substr substring substring_index tanh to_date to_utc_timestamp
    translate trunc ucase unbase64 unhex unix_timestamp version weekofyear width_bucket xpath xpath_boolean xpath_double
    xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string year"""
)
_SPARK = _HIVE | words(
    """aggregate any any_value approx_count_distinct approx_percentile array_agg array_append array_compact
    array_distinct array_except array_insert array_intersect array_join array_max array_min array_position array_prepend
    array_remove array_repeat array_size array_sort array_union arrays_overlap arrays_zip atan2 bit_and bit_count
    bit_get bit_length bit_or bit_xor bool_and bool_or btrim cardinality char char_length contains convert_timezone cot
    count_if csc curdate current_catalog current_schema current_timezone date date_diff date_from_unix_date date_part
    date_trunc dateadd datepart dayname dayofyear div element_at endswith equal_null every exists explode_outer expm1
    filter first flatten forall format_string from_csv from_json from_xml get grouping_id hypot ifnull inline_outer
    input_file_block_length input_file_block_start isnan json_array_length json_object_keys kurtosis last left len
    listagg localtimestamp log1p make_date make_dt_interval make_interval make_timestamp make_timestamp_ltz
    make_timestamp_ntz make_ym_interval map_concat map_contains_key map_entries map_filter map_from_arrays
    map_from_entries map_zip_with max_by mean median min_by mode monotonically_increasing_id monthname nanvl now
    nth_value nvl2 overlay parse_json percentile_cont percentile_disc posexplode_outer position raise_error randn random
    reduce regexp_count regexp_extract_all regexp_instr regexp_like regexp_substr right schema_of_csv schema_of_json
    schema_of_variant sec sequence session_window shuffle signum skewness slice some spark_partition_id split_part
    startswith std string_agg timestamp timestamp_micros timestamp_millis timestamp_seconds to_binary to_char to_csv
    to_json to_number to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_varchar to_variant_object
    to_xml transform transform_keys transform_values try_add try_avg try_divide try_element_at try_multiply
    try_parse_json try_subtract try_sum try_to_number try_to_timestamp try_variant_get typeof unix_date unix_micros
    unix_millis unix_seconds url_decode url_encode uuid variant_get weekday window window_time xxhash64 zip_with"""
)
_PRESTO = words(
    """all_match any_match approx_distinct approx_percentile approx_set arbitrary array_agg array_average array_distinct
    array_duplicates array_except array_frequency array_has_duplicates array_intersect array_join array_max array_min
    array_normalize array_position array_remove array_sort array_sum array_union arrays_overlap atan2 bit_count
    bitwise_and bitwise_and_agg bitwise_not bitwise_or bitwise_or_agg bitwise_xor bool_and bool_or cardinality cast cbrt
    ceil checksum chr codepoint combinations concat contains cosh count_if crc32 current_date current_time
    current_timestamp current_timezone current_user date date_add date_diff date_format date_parse date_trunc day
    day_of_month day_of_week day_of_year dow doy e element_at entropy every extract filter flatten format_datetime
    from_base from_base64 from_base64url from_hex from_iso8601_date from_iso8601_timestamp from_unixtime from_utf8
    geometric_mean greatest grouping hamming_distance histogram hmac_md5 hmac_sha1 hmac_sha256 hmac_sha512 hour if
    infinity is_finite is_infinite is_json_scalar is_nan json_array_contains json_array_get json_array_length
    json_extract json_extract_scalar json_format json_parse json_size kurtosis least length levenshtein_distance ln
    localtime localtimestamp log10 log2 lpad map map_agg map_concat map_entries map_filter map_from_entries map_keys
    map_union map_union_sum map_values map_zip_with max_by md5 merge millisecond min_by minute mod month multimap_agg
    nan ngrams none_match normalize now nth_value numeric_histogram parse_datetime parse_duration position pow quarter
    rand random reduce reduce_agg regexp_extract regexp_extract_all regexp_like regexp_replace regexp_split repeat
    reverse rpad second sequence set_agg set_union sha1 sha256 sha512 shuffle skewness slice split split_part
    split_to_map starts_with strpos strrpos substr tanh timezone_hour timezone_minute to_base to_base64 to_base64url
    to_hex to_iso8601 to_milliseconds to_unixtime to_utf8 transform transform_keys transform_values truncate try typeof
    url_decode url_encode url_extract_fragment url_extract_host url_extract_parameter url_extract_path url_extract_port
    url_extract_protocol url_extract_query uuid week week_of_year width_bucket word_stem xxhash64 year year_of_week yow
    zip zip_with"""
)
_OWN = {
    Dialect.SQLITE: _MATHEMATICS | _SQLITE,
    Dialect.POSTGRESQL: _MATHEMATICS | _STATISTICS | _REGRESSIONS | _POSTGRESQL,
    Dialect.REDSHIFT: _MATHEMATICS | _STATISTICS | _REDSHIFT,
    Dialect.MYSQL: _MATHEMATICS | _STATISTICS | _MYSQL,
    Dialect.SQLSERVER: _MATHEMATICS | _SQLSERVER,
    Dialect.DUCKDB: _MATHEMATICS | _STATISTICS | _REGRESSIONS | _DUCKDB,
    Dialect.HIVE: _MATHEMATICS | _STATISTICS | _REGRESSIONS | _HIVE,
    Dialect.SPARK: _MATHEMATICS | _STATISTICS | _REGRESSIONS | _SPARK,
    Dialect.PRESTO: _MATHEMATICS | _STATISTICS | _REGRESSIONS | _PRESTO,
}


@cache
def functions_of(dialect: Dialect) -> tuple[str, ...]:
    """Return the names of a dialect's functions in small letters, by the alphabet; of others, those that all have."""
    return tuple(sorted(_EVERYWHERE | _OWN.get(dialect, frozenset())))
