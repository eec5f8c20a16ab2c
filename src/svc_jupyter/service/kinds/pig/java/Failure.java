package svc.jupyter.pig;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.pig.PigException;
import org.apache.pig.tools.parameters.ParameterSubstitutionException;
import org.apache.pig.tools.pigstats.JobStats;
import org.apache.pig.tools.pigstats.PigStats;

/**
 * Why a script failed: the root cause's message, and the position in the script.
 *
 * <p>Pig wraps causes in general errors ("Unable to store alias b"), keeps those of jobs in its statistics, and only
 * logs those of functions. The deepest one with a message is the one that helps.
 */
final class Failure {
    private static final Pattern PLACE = Pattern.compile("<(?:[^<>]*?, )?line (\\d+)(?:, column (\\d+))?>\\s*");
    private static final Pattern AT = Pattern.compile("(?i)\\b(?:at|encountered .*? at) line (\\d+), column (\\d+)");
    private static final Pattern ALIAS_PLACE = Pattern.compile("\\[(\\d+),(\\d+)\\]");
    private static final Pattern UNDEFINED = Pattern.compile("Undefined parameter : (\\w+)");
    /** Matches the exceptions in a printed stack trace, the deepest last. */
    private static final Pattern PRINTED = Pattern.compile(
        "(?ms)^(?:Caused by: )?((?:[\\w$]+\\.)+[\\w$]+: .*?)(?=\\s*^\\tat |\\s*^\\t\\.\\.\\. |\\s*\\z)");
    /** Prefixes of a message: classes of Pig and Hadoop, error numbers, and wrappers. */
    private static final Pattern PREFIX = Pattern.compile(
        "(?:org\\.apache\\.(?:[\\w$]+\\.)+[\\w$]+|java\\.io\\.IOException): |ERROR \\d+: |LINE \\d*: "
            + "|Unable to recreate exception from backed error: |Exception while executing (?:for )?\\[.*?\\]: ");
    private static final Pattern NUMBER = Pattern.compile("ERROR (?!2997)([1-9]\\d*): "); // 2997 only wraps
    private static final Pattern OF_JAVA = Pattern.compile("((?:[\\w$]+\\.)+)[\\w$]+: ");
    private static final int STOPPED = 6017;
    /** Pig numbers errors in a script from 1000 on; these two only wrap failures of jobs. */
    private static final int FIRST_OF_SCRIPT = 1000;
    private static final int LAST_OF_SCRIPT = 1999;
    private static final List<Integer> WRAPPING = List.of(1002, 1066);
    private static final int DEEPEST = 40;

    private Failure() {
    }

    /** Return message, code, line and column, as far as they are known. */
    static Map<String, Object> of(Throwable thrown, List<Throwable> logged, String script) {
        Throwable told = thrown;
        String aliasPlace = null;
        if (isOfRun(thrown)) {
            JobStats failed = failedJob();
            Throwable ofTask = speaking(logged);
            aliasPlace = failed == null ? null : failed.getAliasLocation();
            if (ofTask != null) {
                told = ofTask;
            } else if (failed != null && failed.getErrorMessage() != null && !saysNothing(failed)) {
                told = parsed(failed.getErrorMessage());
            } else if (failed != null && failed.getException() != null) {
                String said = failed.getException().getMessage();
                told = said == null ? failed.getException() : parsed(said);
            } else if (PigStats.get() != null && PigStats.get().getErrorThrowable() != null) {
                told = PigStats.get().getErrorThrowable();
            }
        }
        Map<String, Object> all = described(told, aliasPlace);
        Matcher undefined = UNDEFINED.matcher((String) all.get("message"));
        if (undefined.find()) {
            locate(Pattern.compile("\\$\\{?" + undefined.group(1) + "\\b"), script, all);
        }
        return all;
    }

    /** Whether jobs failed: Pig's own message then has no reason. */
    private static boolean isOfRun(Throwable thrown) {
        for (Throwable one : chain(thrown)) {
            boolean isStop = one instanceof PigException && ((PigException) one).getErrorCode() == STOPPED;
            if (isStop || one instanceof Server.RunFailed) {
                return true;
            }
        }
        return false;
    }

    private static void locate(Pattern wanted, String script, Map<String, Object> told) {
        Matcher found = wanted.matcher(script);
        if (found.find()) {
            String before = script.substring(0, found.start());
            told.put("line", (int) before.chars().filter(each -> each == '\n').count() + 1);
            told.put("column", found.start() - before.lastIndexOf('\n') - 1);
        }
    }

    private static Map<String, Object> described(Throwable thrown, String aliasPlace) {
        Throwable cause = cause(thrown);
        String message = message(cause);
        Map<String, Object> told = new LinkedHashMap<>();
        Matcher place = PLACE.matcher(message);
        if (place.find()) {
            message = message.substring(0, place.start()) + message.substring(place.end());
        } else {
            place = AT.matcher(message);
            if (!place.find()) {
                place = ALIAS_PLACE.matcher(aliasPlace == null ? "" : aliasPlace);
                place = place.find() ? place : null;
            }
        }
        String around = place == null ? placeIn(thrown) : null;
        if (around != null) {
            place = PLACE.matcher(around);
            place = place.find() ? place : null;
        }
        int expectations = message.indexOf("\nWas expecting");
        told.put("message", (expectations < 0 ? message : message.substring(0, expectations)).strip());
        told.put("code", code(thrown));
        told.put("line", place == null ? null : Integer.valueOf(place.group(1)));
        told.put("column", place == null || place.group(2) == null ? null : Integer.valueOf(place.group(2)));
        told.put("may_retry", !isOfTheScript(cause, code(thrown)));
        return told;
    }

    private static boolean saysNothing(JobStats failed) {
        return failed.getErrorMessage().strip().equalsIgnoreCase("job failed!");
    }

    private static JobStats failedJob() {
        if (PigStats.get() == null) {
            return null;
        }
        for (JobStats stats : PigStats.get().getJobGraph()) {
            if (stats.getState() == JobStats.JobState.FAILED) {
                return stats;
            }
        }
        return null;
    }

    /** Return the first logged exception that comes from a task. */
    private static Throwable speaking(List<Throwable> logged) {
        for (Throwable one : logged) {
            Throwable cause = cause(one);
            if (cause.getMessage() != null || !(cause instanceof RuntimeException)) {
                return one;
            }
        }
        return logged.isEmpty() ? null : logged.get(0);
    }

    private static List<Throwable> chain(Throwable thrown) {
        List<Throwable> chain = new ArrayList<>();
        for (Throwable one = thrown; one != null && !chain.contains(one) && chain.size() < DEEPEST; one = one.getCause()) {
            chain.add(one);
        }
        return chain;
    }

    /** Return the deepest throwable with a message. */
    private static Throwable cause(Throwable thrown) {
        Throwable best = thrown;
        for (Throwable one : chain(thrown)) {
            boolean says = one.getMessage() != null && !one.getMessage().isBlank();
            if (says || one instanceof RuntimeException || one instanceof Error) {
                best = one;
            }
        }
        return best;
    }

    private static String message(Throwable cause) {
        String text = cause.getMessage() == null ? "" : cause.getMessage();
        boolean isOfPig = cause instanceof PigException || cause instanceof ParameterSubstitutionException
            || cause.getClass().getName().startsWith("org.apache.pig.")
            || cause.getClass().getName().startsWith("org.apache.hadoop.mapreduce.lib.input.");
        if (!text.isEmpty() && (isOfPig || cause instanceof IOException)) {
            return text;
        }
        return text.isEmpty() ? cause.getClass().getName() : cause.getClass().getSimpleName() + ": " + text;
    }

    /** Return the message and the number of the deepest exception of a printed stack trace, if there is one. */
    private static Throwable parsed(String trace) {
        String text = trace.split("\\n\\tat ", 2)[0].strip();
        Integer code = null;
        for (Matcher cause = PRINTED.matcher(trace); cause.find();) {
            text = cause.group(1).strip();
            Matcher number = NUMBER.matcher(text);
            code = number.find() ? Integer.valueOf(number.group(1)) : code;
        }
        for (Matcher prefix = PREFIX.matcher(text); prefix.lookingAt(); prefix = PREFIX.matcher(text)) {
            text = text.substring(prefix.end());
        }
        Matcher ofJava = OF_JAVA.matcher(text);
        text = ofJava.lookingAt() ? text.substring(ofJava.end(1)) : text;
        return new PigException(text, code == null ? 0 : code);
    }

    /** Return the outermost message that names a place in the script. */
    private static String placeIn(Throwable thrown) {
        for (Throwable one : chain(thrown)) {
            if (one.getMessage() != null && PLACE.matcher(one.getMessage()).find()) {
                return one.getMessage();
            }
        }
        return null;
    }

    /** Return Pig's error number: the deepest that is not a general one. */
    private static Integer code(Throwable thrown) {
        Integer code = null;
        for (Throwable one : chain(thrown)) {
            if (one instanceof PigException && ((PigException) one).getErrorCode() > 0) {
                code = ((PigException) one).getErrorCode();
            }
        }
        return code;
    }

    /** Whether the script would fail again: it does not parse, or a name or a parameter is missing. */
    private static boolean isOfTheScript(Throwable cause, Integer code) {
        boolean isNumbered = code != null && code >= FIRST_OF_SCRIPT && code <= LAST_OF_SCRIPT;
        boolean isLexical = cause.getClass().getSimpleName().equals("TokenMgrError");
        return isLexical || cause instanceof ParameterSubstitutionException || isNumbered && !WRAPPING.contains(code);
    }
}
