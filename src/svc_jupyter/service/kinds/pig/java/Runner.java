package svc.jupyter.pig;

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.BlockingQueue;

import org.apache.log4j.ConsoleAppender;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import sun.misc.Signal;

/**
 * A JVM that has loaded Pig and waits for one script: {@code Runner FOLDER}, where the folder is its scratch space.
 *
 * <p>It prints {@code ready} on stdout, reads a job as a line of JSON from stdin and prints {@code taken}. Until then, the
 * end of stdin ends it. It runs one script, so no function or setting of a script affects another.
 */
public final class Runner {
    /** Their warnings concern Pig itself, not the script. */
    private static final String[] SAYING_NOTHING = {
        "org.apache.hadoop.util.NativeCodeLoader", "org.apache.hadoop.metrics2",
        "org.apache.hadoop.mapreduce.JobResourceUploader", "org.apache.pig.data.SchemaTupleBackend",
        "org.apache.pig.PigServer",
    };
    private static final String END = "";
    private static final int SIGNALLED = 128;

    private Runner() {
    }

    /** Wait for a job and run it; never returns. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path scratch = Path.of(arguments[0]);
        PrintStream answers = System.out;
        System.setOut(System.err); // what is printed while it warms up is not an answer
        Causes causes = logging();
        BlockingQueue<String> lines = linesOf(System.in);
        new Warmth(scratch, () -> !lines.isEmpty()).run();
        causes.forget();
        answers.println("ready");
        answers.flush();
        String line = lines.take();
        if (line.equals(END)) {
            Runtime.getRuntime().halt(0);
        }
        Job job = Job.parse(line);
        Claim claim = claimed(job, answers);
        int code = SIGNALLED;
        try {
            code = new Script(job, scratch, causes).run();
        } finally {
            System.out.flush();
            claim.end(code);
            Runtime.getRuntime().halt(code); // threads of a function do not hold it up
        }
    }

    private static Claim claimed(Job job, PrintStream answers) throws IOException {
        try {
            Claim claim = Claim.take(job.folder);
            Signal.handle(new Signal("TERM"), signal -> endedBy(signal, claim));
            PrintStream log = new PrintStream(new FileOutputStream(job.log.toFile(), true), true, StandardCharsets.UTF_8);
            OutputStream output = new FileOutputStream(job.folder.resolve("out").toFile(), true);
            System.setErr(log);
            System.setOut(new PrintStream(new Both(output, log), true, StandardCharsets.UTF_8));
            answers.println("taken");
            return claim;
        } catch (IOException error) {
            answers.println(error.toString().replace('\n', ' '));
            throw error;
        } finally {
            answers.close();
        }
    }

    private static void endedBy(Signal signal, Claim claim) {
        int code = SIGNALLED + signal.getNumber();
        try {
            claim.end(code);
        } catch (IOException error) {
            error.printStackTrace();
        }
        Runtime.getRuntime().halt(code);
    }

    private static BlockingQueue<String> linesOf(java.io.InputStream input) {
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> {
            try {
                String line = new BufferedReader(new InputStreamReader(input, StandardCharsets.UTF_8)).readLine();
                lines.add(line == null ? END : line);
            } catch (IOException error) {
                lines.add(END);
            }
        }, "jobs");
        reader.setDaemon(true);
        reader.start();
        return lines;
    }

    private static Causes logging() {
        Logger root = Logger.getRootLogger();
        root.removeAllAppenders();
        root.setLevel(Level.WARN);
        ConsoleAppender console = new ConsoleAppender(new PatternLayout("%p %c{1}: %m%n"), ConsoleAppender.SYSTEM_ERR);
        console.setFollow(true); // to the command's log, once there is one
        console.activateOptions();
        root.addAppender(console);
        Logger.getLogger(Server.class).setLevel(Level.OFF); // what it says is thrown as well
        Causes causes = new Causes();
        root.addAppender(causes);
        for (String name : SAYING_NOTHING) {
            Logger.getLogger(name).setLevel(Level.ERROR);
        }
        return causes;
    }

    /** Writes everything to two places. */
    private static final class Both extends OutputStream {
        private final OutputStream first;
        private final OutputStream second;

        Both(OutputStream first, OutputStream second) {
            this.first = first;
            this.second = second;
        }

        @Override
        public void write(int one) throws IOException {
            first.write(one);
            second.write(one);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            first.write(bytes, from, count);
            second.write(bytes, from, count);
        }
    }
}
