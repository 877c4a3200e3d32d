import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;

/**
 * Uploads a file with the JDK's own client, as it is without settings (it then asks for HTTP/2 by an upgrade), and prints the
 * response: its status on a line, then its body. Arguments: address, provider, OAuth header, API key, message, file.
 */
class Upload {
    private static final String BOUNDARY = "----java-boundary-7d1a90c3";

    public static void main(String[] args) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(args[0]))
            .header("Content-Type", "multipart/form-data; boundary=" + BOUNDARY)
            .header("X-Auth-Service-Provider", args[1])
            .header("X-Verify-Credentials-Authorization", args[2])
            .POST(form(args[3], args[4], Path.of(args[5])))
            .build();
        var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        System.out.print(response.statusCode() + "\n" + response.body());
    }

    private static BodyPublisher form(String key, String message, Path media) throws FileNotFoundException {
        return BodyPublishers.concat(
            BodyPublishers.ofString(field("key", key) + field("message", message) + delimiter()
                + "Content-Disposition: form-data; name=\"media\"; filename=\"" + media.getFileName() + "\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n"),
            BodyPublishers.ofFile(media),
            BodyPublishers.ofString("\r\n--" + BOUNDARY + "--\r\n"));
    }

    private static String field(String name, String value) {
        return delimiter() + "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    }

    private static String delimiter() {
        return "--" + BOUNDARY + "\r\n";
    }
}
