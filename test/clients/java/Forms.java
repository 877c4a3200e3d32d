import com.google.gson.Gson;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import okhttp3.Headers;
import okhttp3.MediaType;
import okhttp3.MultipartBody;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.ResponseBody;
import retrofit2.Call;
import retrofit2.Response;
import retrofit2.Retrofit;
import retrofit2.converter.gson.GsonConverterFactory;
import retrofit2.http.HeaderMap;
import retrofit2.http.Multipart;
import retrofit2.http.POST;
import retrofit2.http.Part;
import retrofit2.http.Url;

/**
 * Uploads a file with the JDK's client, and with OkHttp and Retrofit, as Android apps do. Prints each response as a line of JSON.
 * Arguments: address, provider, authorization, API key, message, file, then the names of requests.
 */
class Forms {
    interface Api {
        @Multipart
        @POST
        Call<ResponseBody> uploadStrings(@Url String address, @HeaderMap Map<String, String> headers,
            @Part("key") String key, @Part("message") String message, @Part MultipartBody.Part media);

        @Multipart
        @POST
        Call<ResponseBody> uploadBodies(@Url String address, @HeaderMap Map<String, String> headers,
            @Part("key") RequestBody key, @Part("message") RequestBody message, @Part MultipartBody.Part media);
    }

    private static final String BOUNDARY = "----java-boundary-7d1a90c3";

    record Answer(String request, int status, String text) {}

    private final OkHttpClient client = new OkHttpClient.Builder().readTimeout(90, TimeUnit.SECONDS).build();
    private final String address, key, message;
    private final Map<String, String> headers;
    private final File file;
    private final RequestBody media;

    Forms(String[] args) {
        address = args[0];
        headers = Map.of("X-Auth-Service-Provider", args[1], "X-Verify-Credentials-Authorization", args[2]);
        key = args[3];
        message = args[4];
        file = new File(args[5]);
        media = RequestBody.create(file, MediaType.get("image/jpeg"));
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        var forms = new Forms(args);
        for (var name : Arrays.copyOfRange(args, 6, args.length)) System.out.println(new Gson().toJson(forms.send(name)));
        // OkHttp's threads would wait for a minute.
        System.exit(0);
    }

    private Answer send(String name) throws IOException, InterruptedException {
        return switch (name) {
            case "JDK HttpClient" -> withJdk(name);
            case "OkHttp" -> withOkHttp(name, MultipartBody.FORM);
            case "OkHttp, multipart/mixed" -> withOkHttp(name, MultipartBody.MIXED);
            case "Retrofit" -> withRetrofit(name, api().uploadBodies(address, headers, text(key), text(message), part()));
            case "Retrofit with Gson, String parts" ->
                withRetrofit(name, api().uploadStrings(address, headers, key, message, part()));
            default -> throw new IllegalArgumentException(name);
        };
    }

    // Without settings, this client asks for HTTP/2 by an upgrade.
    private Answer withJdk(String name) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(address)).POST(jdkForm())
            .header("Content-Type", "multipart/form-data; boundary=" + BOUNDARY);
        headers.forEach(request::header);
        var response = HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
        return new Answer(name, response.statusCode(), response.body());
    }

    private BodyPublisher jdkForm() throws IOException {
        return BodyPublishers.concat(
            BodyPublishers.ofString(field("key", key) + field("message", message) + "--" + BOUNDARY + "\r\n"
                + "Content-Disposition: form-data; name=\"media\"; filename=\"" + file.getName() + "\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n"),
            BodyPublishers.ofFile(file.toPath()),
            BodyPublishers.ofString("\r\n--" + BOUNDARY + "--\r\n"));
    }

    private static String field(String name, String value) {
        return "--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    }

    private Answer withOkHttp(String name, MediaType type) throws IOException {
        var form = new MultipartBody.Builder().setType(type).addFormDataPart("key", key)
            .addFormDataPart("message", message).addFormDataPart("media", "ж \"q\".jpg", media).build();
        var request = new Request.Builder().url(address).headers(Headers.of(headers)).post(form).build();
        try (var response = client.newCall(request).execute()) {
            return new Answer(name, response.code(), response.body().string());
        }
    }

    private Answer withRetrofit(String name, Call<ResponseBody> call) throws IOException {
        Response<ResponseBody> response = call.execute();
        try (var body = response.isSuccessful() ? response.body() : response.errorBody()) {
            return new Answer(name, response.code(), body.string());
        }
    }

    private Api api() {
        return new Retrofit.Builder().baseUrl("http://127.0.0.1/").client(client)
            .addConverterFactory(GsonConverterFactory.create()).build().create(Api.class);
    }

    private MultipartBody.Part part() {
        return MultipartBody.Part.createFormData("media", "photo.jpg", media);
    }

    private static RequestBody text(String value) {
        return RequestBody.create(value, MediaType.get("text/plain; charset=utf-8"));
    }
}
