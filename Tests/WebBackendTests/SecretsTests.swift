import CoreData
import Foundation
import RemoteStore
import Testing
import WebBackend
import WebTransport

@Suite("Secrets of a web service") struct SecretsTests {
    @Test("No error, trace, plan or URI shows a secret, whatever the service answers") func nowhere() throws {
        let secret = "hunter2-\(UUID().uuidString)"
        for authentication in [
            Authentication.bearer(.value(secret)), .basic(user: "me", password: .value(secret)),
            .query(name: "api_key", value: .value(secret)),
            .header(name: "X-Api-Key", value: .value(secret)),
        ] {
            var texts: [String] = []
            for status in [200, 401, 500] {
                let transport = ScriptedService { request in
                    // A service that repeats what it was sent.
                    let echo = request.url + request.headers.fields.map(\.value).joined()
                    return .json(
                        status == 200 ? #"[{"id": 1, "title": "One"}]"# : #"{"message": "Bad request \#(echo.replacing("\"", with: ""))"}"#,
                        status: status)
                }
                var options = WebClient.Options()
                options.retries = .never
                options.authentication = authentication
                let model = Music.model()
                let backend = try WebBackend(
                    WebService(base, resources: [WebResource("Album")]), model: model, transport: transport, options: options)
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                let store = try coordinator.addRemoteStore(backend)
                let context = NSManagedObjectContext(.privateQueue)
                context.persistentStoreCoordinator = coordinator
                context.performAndWait {
                    do {
                        let (objects, trace) = try backend.tracing(fetch("Album"), in: context)
                        texts += ["\(trace)", "\(objects)", "\(objects.map { $0.objectID.uriRepresentation() })", "\(store.url as Any)"]
                    } catch { texts += ["\(error)", (error as NSError).localizedDescription, "\((error as NSError).userInfo)"] }
                }
                // The service got it, of course.
                let sent = transport.requests.first.map { $0.url + $0.headers.fields.map(\.value).joined() } ?? ""
                #expect(sent.contains(secret) || sent.contains("Basic "))
            }
            #expect(!texts.isEmpty)
            for text in texts { #expect(!text.contains(secret), "\(text)") }
        }
    }
}
