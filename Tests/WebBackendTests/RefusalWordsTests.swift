import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("What a service says when it refuses") struct RefusalWordsTests {
    private static func model() -> NSManagedObjectModel {
        let account = NSEntityDescription(name: "Account")
        account.properties = ["name", "password", "apiKey"].map { NSAttributeDescription(name: $0, type: .string) }
        return NSManagedObjectModel(entities: [account])
    }

    /// The error of a new account, as a service answers for it.
    private func refusal(
        _ answer: @escaping @Sendable (WebRequest) -> WebResponse, style: ServiceStyle = .plain, query: [String: String] = [:],
        headers: [String: String] = [:], values: [String: String] = ["name": "Ada"], _ authentication: Authentication = .none
    ) throws -> NSError {
        let transport = ScriptedService { $0.method == .get ? .json("[]") : answer($0) }
        var options = WebClient.Options()
        options.retries = .never
        options.authentication = authentication
        var service = WebService(base, style: style, resources: [WebResource("Account")])
        service.query = query
        service.headers = headers
        let model = Self.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(WebBackend(service, model: model, transport: transport, options: options))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Account", into: context).setValuesForKeys(values)
            return try #require(throws: NSError.self) { try context.save() }
        }
    }

    private func cause(_ error: NSError) -> WebServiceError? {
        for one in [error] + (error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []) {
            if let found = one.userInfo[NSUnderlyingErrorKey] as? WebServiceError { return found }
            if let inner = one.userInfo[NSUnderlyingErrorKey] as? NSError, let found = cause(inner) { return found }
        }
        return nil
    }

    /// What an error says, and those under it; not the objects that it names, which have the program's own values.
    private func text(_ error: any Error) -> String {
        let known = error as NSError
        var texts = [known.localizedDescription, known.localizedFailureReason ?? "", known.localizedRecoverySuggestion ?? ""]
        if let cause = error as? WebServiceError { texts += ["\(cause)", cause.body, cause.message, cause.request] }
        for inner in known.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [] { texts.append(text(inner)) }
        if let inner = known.userInfo[NSUnderlyingErrorKey] as? any Error { texts.append(text(inner)) }
        return texts.joined(separator: " ")
    }

    @Test("The body of a refusal is in the error, also where no path of the description finds a message in it")
    func bodies() throws {
        for (body, words) in [
            (#"{"fault": {"code": 17, "text": "Too many accounts."}}"#, "Too many accounts."),
            ("<html><body><h1>Forbidden</h1>\n<p>Ask Berta.</p></body></html>", "<p>Ask Berta.</p>"), ("quota exceeded", "quota exceeded"),
            ("[1, 2", "[1, 2"), (#""a text""#, "a text"),
        ] {
            let error = try refusal { _ in WebResponse(status: 403, body: Array(body.utf8)) }
            #expect(text(error).contains(words), "\(text(error))")
            expect(cause(error)?.body, equals: body)
        }
        let error = try refusal { _ in .json(#"{"message": "No.", "hint": "Ask Berta."}"#, status: 403) }
        #expect(text(error).contains("No.") && cause(error)?.body.contains("Ask Berta.") == true)
    }

    @Test("Of a long body there are two kilobytes, and of one that is no text its size") func longBodies() throws {
        let long = try #require(cause(refusal { _ in WebResponse(status: 403, body: Array(String(repeating: "é ", count: 40_000).utf8)) }))
        #expect(long.body.utf8.count <= 2048 && long.body.utf8.count > 2000 && long.body.hasSuffix("…"))
        let binary = try refusal { _ in WebResponse(status: 403, body: [0xFF, 0xFE, 0x00]) }
        expect(cause(binary)?.body, equals: "3 bytes that are no text")
        expect(cause(try refusal { _ in WebResponse(status: 403) })?.body, equals: "")
    }

    /// The forms in which services repeat a text.
    private static func forms(_ text: String) -> [String] {
        let all = text.utf8.map { String(format: "%%%02X", $0) }.joined()
        let json = text.replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#)
        let numbered = json.replacing("&", with: #"\u0026"#).replacing("<", with: #"\u003C"#)
        let html = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
        var unreserved = CharacterSet.alphanumerics
        unreserved.insert(charactersIn: "-._~")
        let encoded = text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? all
        return [
            text, encoded,
            encoded.lowercased() == text.lowercased() ? text : encoded.replacing("%2B", with: "%2b").replacing("%2F", with: "%2f"), json,
            json.replacing("/", with: #"\/"#), numbered, html, Data(text.utf8).base64EncodedString(),
            Data(("user:" + text).utf8).base64EncodedString(), Data(("{\"k\": \"" + text + "\"}").utf8).base64EncodedString(),
            Data(("x" + text + "yz").utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_"),
        ]
    }

    @Test("No secret of a request is in the error, wherever it was sent and in whatever form the service repeats it")
    func secrets() throws {
        let seed = TestSeed.current(for: "Secrets in refusals")
        var random = SeededGenerator(seed: seed)
        let letters = Array(#"abcdefghXYZ0189-_+/=&<"\ %é"#)
        for round in 0..<2 {
            let secret = "k" + String((0..<(14 + random.below(10))).map { _ in letters[random.below(letters.count)] }) + "z"
            let plain = "t" + String((0..<20).map { _ in letters[random.below(14)] })
            func check(_ error: NSError, _ secret: String, _ place: String) {
                let text = text(error)
                for form in Self.forms(secret) {
                    #expect(!text.contains(form), "seed \(seed), round \(round), \(place): “\(form)” of “\(secret)” is in \(text)")
                }
                #expect(text.contains("refused for a reason"), "\(text)")
            }
            for form in Self.forms(secret) {
                let body = "refused for a reason: \(form)"
                let answer: @Sendable (WebRequest) -> WebResponse = { _ in WebResponse(status: 403, body: Array(body.utf8)) }
                check(try refusal(answer, values: ["name": "Ada", "password": secret]), secret, "field")
                check(try refusal(answer, query: ["access_token": secret]), secret, "query")
                check(try refusal(answer, .basic(user: "ada", password: .value(secret))), secret, "basic")
                check(try refusal(answer, .query(name: "pass", value: .value(secret))), secret, "client's query")
            }
            for form in Self.forms(plain) {
                let body = #"{"message": "refused for a reason", "was": "\#(form)"}"#
                let answer: @Sendable (WebRequest) -> WebResponse = { _ in .json(body, status: 403) }
                check(try refusal(answer, headers: ["X-Auth-Token": plain]), plain, "header")
                check(try refusal(answer, headers: ["Authorization": "Bearer \(plain)"]), plain, "bearer")
                check(try refusal(answer, headers: ["Cookie": "sid=\(plain); a=b"]), plain, "cookie")
                check(try refusal(answer, .header(name: "X-Own", value: .value(plain))), plain, "client's header")
            }
        }
    }

    @Test("What the service itself issues as a token is not in the error, and what it says of fields that are named so is")
    func issued() throws {
        let error = try refusal { _ in .json(#"{"message": "Expired.", "refresh_token": "issued-by-us-77"}"#, status: 403) }
        #expect(!text(error).contains("issued-by-us-77") && text(error).contains("Expired."))
        var style = ServiceStyle.plain
        style.errors = ErrorStyle(messages: ["detail"], isByField: true)
        let field = try refusal(
            { _ in .json(#"{"password": ["Too short."]}"#, status: 400) }, style: style, values: ["password": "geheim-77"])
        #expect(text(field).contains("Too short.") && !text(field).contains("geheim-77"))
    }

    @Test("A name and a password before the host are refused with the address, and not shown")
    func userInformation() {
        let error = #expect(throws: NSError.self) {
            _ = try WebBackend(
                WebService("https://ada:geheim-77@api.example.com", resources: [WebResource("Account")]), model: Self.model(),
                transport: ScriptedService { _ in .json("[]") })
        }
        #expect(error.map { !"\($0) \($0.userInfo)".contains("geheim-77") } ?? false)
    }
}
