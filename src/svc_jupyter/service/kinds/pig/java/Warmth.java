package svc.jupyter.pig;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/**
 * Runs small scripts before there is a job, so that the classes that every script needs are loaded and compiled.
 *
 * <p>Stops between two scripts when a job has arrived.
 */
final class Warmth {
    private static final String[] SCRIPTS = {
        "a = LOAD 'in' USING PigStorage(',') AS (k:chararray, n:int, d:double); DUMP a;",
        "a = LOAD 'in' USING PigStorage(',') AS (k:chararray, n:int, d:double);"
            + " f = FILTER a BY n IS NOT NULL AND d > 0.0; g = GROUP f BY k;"
            + " s = FOREACH g GENERATE group AS k, COUNT(f) AS c, AVG(f.n) AS m, SUM(f.d) AS t, MAX(f.n) AS x;"
            + " o = ORDER s BY c DESC; DUMP o;",
        "a = LOAD 'in' USING PigStorage(',') AS (k:chararray, n:int, d:double); b = LOAD 'in' USING PigStorage(',');"
            + " j = JOIN a BY k, b BY $0; t = FOREACH j GENERATE TOKENIZE(a::k) AS w, a::n; l = LIMIT t 5; DUMP l;",
    };
    private static final int ROWS = 3000;

    private final Path scratch;
    private final BooleanSupplier isAwaited;

    Warmth(Path scratch, BooleanSupplier isAwaited) {
        this.scratch = scratch;
        this.isAwaited = isAwaited;
    }

    void run() throws IOException {
        Path folder = Files.createDirectories(scratch.resolve("warm"));
        StringBuilder rows = new StringBuilder();
        for (int row = 0; row < ROWS; row++) {
            rows.append((char) ('a' + row % 16)).append(' ').append(row % 7).append(',').append(row).append(',')
                .append(row * 0.5).append('\n');
        }
        Files.write(folder.resolve("in"), rows.toString().getBytes(StandardCharsets.UTF_8));
        for (int number = 0; number < SCRIPTS.length && !isAwaited.getAsBoolean(); number++) {
            Path place = Files.createDirectories(folder.resolve(String.valueOf(number)));
            new Script(Job.warming(place, SCRIPTS[number], folder.toUri().toString()), scratch, new Causes()).run();
        }
    }
}
