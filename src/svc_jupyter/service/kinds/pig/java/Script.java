package svc.jupyter.pig;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.pig.ExecType;
import org.apache.pig.impl.PigContext;
import org.apache.pig.impl.io.FileLocalizer;
import org.apache.pig.impl.util.PropertiesUtil;
import org.apache.pig.tools.grunt.GruntParser;
import org.apache.pig.tools.parameters.ParameterSubstitutionException;
import org.apache.pig.tools.parameters.ParameterSubstitutionPreprocessor;
import org.apache.pig.tools.parameters.PreprocessorContext;
import org.apache.pig.tools.pigstats.ScriptState;

/** One run of one script. */
final class Script {
    /** Exit codes of Pig's own program. */
    static final int FAILED = 6;

    private final Job job;
    private final Path scratch;
    private final Causes causes;

    Script(Job job, Path scratch, Causes causes) {
        this.job = job;
        this.scratch = scratch;
        this.causes = causes;
    }

    /** Run it, write result.json or error.json, and return the exit code. */
    int run() throws IOException {
        long began = System.nanoTime();
        try {
            Map<String, Object> summary = runAll();
            summary.put("seconds", (System.nanoTime() - began) / 1e9);
            job.write("result.json", summary);
            return 0;
        } catch (Exception | Error thrown) { // parsers throw errors, and a function may throw anything
            thrown.printStackTrace();
            job.write("error.json", Failure.of(thrown, causes.all(), job.script));
            return FAILED;
        } finally {
            FileLocalizer.deleteTempFiles();
        }
    }

    private Map<String, Object> runAll() throws Exception {
        giveSecrets();
        PigContext context = new PigContext(job.isLocal ? ExecType.LOCAL : ExecType.MAPREDUCE, properties());
        context.connect();
        ScriptState state = context.getExecutionEngine().instantiateScriptState();
        ScriptState.start(state);
        Watcher watcher = new Watcher(job, context);
        state.registerListener(watcher);
        Server server = new Server(job, context, watcher); // connects anew
        goTo(context, job);
        state.setScript(job.script);
        server.setBatchOn();
        GruntParser parser = new GruntParser(new StringReader(substituted(context)), server);
        parser.setInteractive(false);
        parser.parseStopOnError(true);
        server.executeBatch();
        Map<String, Object> summary = new LinkedHashMap<>();
        summary.put("dumps", server.finishDumps());
        summary.put("stores", watcher.stored());
        return summary;
    }

    /** Each job gets the user's credentials in a file that only its user can read. */
    private void giveSecrets() throws IOException {
        Credentials credentials = new Credentials();
        job.secrets.forEach((name, secret) ->
            credentials.addSecretKey(new Text(name), secret.getBytes(StandardCharsets.UTF_8)));
        UserGroupInformation.getCurrentUser().addCredentials(credentials);
    }

    /** A relative location is in the account's storage. */
    private static void goTo(PigContext context, Job job) throws IOException {
        if (job.isLocal && job.storage.startsWith("file:")) {
            context.getDfs().setActiveContainer(context.getDfs().asContainer(job.storage));
        } else {
            AccountStorage.use(context, job.storage);
        }
    }

    private Properties properties() {
        Properties properties = PropertiesUtil.loadDefaultProperties();
        if (!job.isLocal) {
            setDefaults(properties);
        } else {
            properties.setProperty("pig.temp.dir", scratch.resolve("tmp").toString());
            properties.setProperty("hadoop.tmp.dir", scratch.resolve("hadoop").toString());
            properties.setProperty("mapreduce.jobtracker.staging.root.dir", scratch.resolve("staging").toString());
        }
        properties.setProperty("pig.logfile", "");
        properties.setProperty("stop.on.failure", "true");
        properties.setProperty("aggregate.warning", "true");
        job.properties.forEach(properties::setProperty);
        return properties;
    }

    /** Pig uses only the given settings of a cluster: add Hadoop's defaults. */
    private static void setDefaults(Properties properties) {
        HdfsConfiguration.init();
        for (Map.Entry<String, String> setting : new YarnConfiguration(new JobConf())) {
            properties.setProperty(setting.getKey(), setting.getValue());
        }
    }

    private String substituted(PigContext context) throws IOException, ParameterSubstitutionException {
        PreprocessorContext values = context.getPreprocessorContext();
        values.setPigContext(context);
        for (Map.Entry<String, String> parameter : job.parameters.entrySet()) {
            values.processOrdLine(parameter.getKey(), parameter.getValue().replace("\\", "\\\\").replace("$", "\\$"));
        }
        StringWriter text = new StringWriter();
        try {
            new ParameterSubstitutionPreprocessor(values)
                .genSubstitutedFile(new BufferedReader(new StringReader(job.script)), text);
        } catch (org.apache.pig.tools.parameters.ParseException error) {
            throw new ParameterSubstitutionException(error.getMessage());
        }
        return text.toString();
    }
}
