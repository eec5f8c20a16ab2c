package svc.jupyter.pig;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

import org.codehaus.jackson.JsonNode;
import org.codehaus.jackson.map.ObjectMapper;
import org.codehaus.jackson.node.ObjectNode;
import org.codehaus.jackson.type.TypeReference;

/** A script to run, read from the service as a line of JSON on stdin. */
final class Job {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** The attempt's folder, for pid, rc, results, progress and the reason of a failure. */
    final Path folder;
    /** The command's log. */
    final Path log;
    final String script;
    final Map<String, String> parameters;
    /** Settings of Pig and Hadoop; if they name a cluster, the script runs there. */
    final Map<String, String> properties;
    /** Secrets that settings refer to by name: the keys of the account's storage. */
    final Map<String, String> secrets;
    final boolean isLocal;
    /** The base of relative locations: the account's storage, as a URI. */
    final String storage;
    /** Fetched files: location in the script to local path. */
    final Map<String, String> fetched;
    /** The number of statements that start jobs, for the progress. */
    final int runs;
    final long minFreeBytes;

    private Job(JsonNode told) throws IOException {
        TypeReference<Map<String, String>> texts = new TypeReference<Map<String, String>>() { };
        folder = Path.of(told.get("folder").asText());
        log = Path.of(told.get("log").asText());
        script = told.get("script").asText();
        parameters = JSON.readValue(told.get("parameters").traverse(), texts);
        properties = JSON.readValue(told.get("properties").traverse(), texts);
        secrets = JSON.readValue(told.get("secrets").traverse(), texts);
        isLocal = told.get("is_local").asBoolean();
        storage = told.get("storage").asText();
        fetched = JSON.readValue(told.get("fetched").traverse(), texts);
        runs = told.get("runs").asInt();
        minFreeBytes = told.get("min_free_bytes").asLong();
    }

    /** Return a job for warming up. */
    static Job warming(Path folder, String script, String storage) throws IOException {
        ObjectNode told = JSON.createObjectNode();
        told.put("folder", folder.toString());
        told.put("log", "");
        told.put("script", script);
        told.put("storage", storage);
        told.put("is_local", true);
        told.put("runs", 1);
        told.put("min_free_bytes", 0);
        for (String name : new String[] {"parameters", "properties", "secrets", "fetched"}) {
            told.putObject(name);
        }
        return new Job(told);
    }

    static Job parse(String line) throws IOException {
        return new Job(JSON.readTree(line));
    }

    /** Write a value as JSON; a reader sees the complete file or none. */
    void write(String name, Object value) throws IOException {
        Whole.replace(folder.resolve(name), JSON.writeValueAsString(value));
    }
}
