import io.tus.java.client.ProtocolException;
import io.tus.java.client.TusClient;
import io.tus.java.client.TusURLMemoryStore;
import io.tus.java.client.TusUpload;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.util.Map;

/**
 * Uploads a file with tus-java-client, on which the one for Android is built, in requests of 1 KiB, and prints the address of the
 * upload. Arguments: address, provider, authorization, API key, message, file, then more addresses to upload to.
 */
class Tus {
    public static void main(String[] args) throws IOException, ProtocolException {
        upload(args[0], args);
        for (var i = 6; i < args.length; i += 1) upload(args[i], args);
    }

    private static void upload(String address, String[] args) throws IOException, ProtocolException {
        var client = new TusClient();
        client.setUploadCreationURL(URI.create(address).toURL());
        client.enableResuming(new TusURLMemoryStore());
        client.setHeaders(Map.of("X-Auth-Service-Provider", args[1], "X-Verify-Credentials-Authorization", args[2]));
        var upload = new TusUpload(new File(args[5]));
        upload.setMetadata(Map.of("key", args[3], "message", args[4], "filename", "photo.jpg"));
        var uploader = client.resumeOrCreateUpload(upload);
        uploader.setChunkSize(1024);
        uploader.setRequestPayloadSize(1024);
        while (uploader.uploadChunk() > -1) {}
        uploader.finish();
        System.out.println(uploader.getUploadURL());
    }
}
