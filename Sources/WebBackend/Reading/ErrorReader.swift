public import Foundation
internal import JSONReading
internal import ObjectGraph
public import RemoteStore
internal import WebTransport

/// The error of a service that has answered with an error: the underlying error of those that fetches and saves throw.
public struct WebServiceError: LocalizedError, Sendable, CustomStringConvertible {
    /// The status of the answer.
    public let status: Int
    /// What the service says where the description has its message, at most a few hundred characters; empty where it has nothing there.
    public let message: String
    /// The request, without credentials.
    public let request: String
    /// The beginning of the answer's body, of two kilobytes at most, without secrets: neither those of the client nor those of the request, in whatever form
    /// the service repeats them.
    public internal(set) var body = ""
    /// The time after which the service wants to be asked again; nil where it has not said.
    public var retryAfter: Duration?
    /// Whether the service does not take the credentials, or not any more: by its status, by what the answer says, or by a page for signing in.
    public internal(set) var needsCredentials = false

    /// Whether something else than the service may have answered, as a network does that wants somebody to sign in.
    var isStray = false

    /// The request, the status and the message on one line; where there is none, the body as it is.
    public var description: String {
        let words = message.isEmpty ? body.split(whereSeparator: \.isWhitespace).joined(separator: " ") : message
        return "\(request) was answered with \(status)\(words.isEmpty ? "" : ": \(words)")"
    }
    /// The same.
    public var errorDescription: String? { description }
}

extension WebServiceError: PassingError {
    /// Whether trying again may help: the service is busy, has failed itself, or has not been reached.
    public var mayPass: Bool {
        isStray || status == 408 || status == 425 || status == 429 || status >= 500 && status != 501 && status != 505
    }
    /// Whether the service has looked at the change: see ``settlesEarlierAttempts(_:)``.
    public var settlesEarlierAttempts: Bool { !needsCredentials && !isStray && Self.settlesEarlierAttempts(status) }

    /// Whether an answer to a change settles what has become of earlier attempts of it. A conflict may be with the same change, sent before; and what is
    /// refused for now, or for its credentials, was not looked at.
    static func settlesEarlierAttempts(_ status: Int) -> Bool {
        // A redirect has not looked at it.
        status < 500 && !(300..<400).contains(status) && ![401, 403, 407, 408, 409, 412, 419, 423, 425, 429].contains(status)
    }
}

/// Takes secrets out of what a service says, which may repeat what it was sent.
struct ServiceWords: Sendable {
    private let client: WebClient

    init(_ client: WebClient) { self.client = client }

    /// Returns a text without secrets.
    func clean(_ text: String, _ request: WebRequest) -> String { client.removingSecrets(from: text, of: request) }
    /// Returns the beginning of an answer's body without secrets.
    func excerpt(_ body: [UInt8], _ request: WebRequest) -> String { client.excerpt(of: body, answering: request) }
    /// Returns method and address of a request without parameters and secrets.
    func name(_ request: WebRequest) -> String { clean("\(request.method.rawValue) \(request.url.prefix { $0 != "?" })", request) }
}

/// Reads errors as the service writes them.
struct ErrorReader {
    let plan: ResourcePlan
    let words: ServiceWords

    /// Returns the error of an answer.
    ///
    /// - Parameters:
    ///   - request: The request, whose secrets the service may repeat.
    ///   - isSave: Whether a change was refused: what the service says of properties is then an error of validation.
    func error(_ response: WebResponse, to request: WebRequest, isSave: Bool) -> NSError {
        let cleaned = Array(words.clean(String(decoding: response.body, as: UTF8.self), request).utf8)
        let body = try? JSONValue(parsing: cleaned)
        let message = self.message(body) ?? ""
        var cause = WebServiceError(status: response.status, message: String(message.prefix(300)), request: words.name(request))
        cause.body = words.excerpt(response.body, request)
        cause.needsCredentials = response.refusesCredentials(isError: response.status < 300)
        cause.retryAfter = response.headers["Retry-After"]
            .flatMap { RetryPolicy.delay(retryAfter: $0, now: Date().timeIntervalSince1970) }.map { .seconds($0) }
        let details = isSave && !cause.needsCredentials ? self.details(body) : []
        if isSave, !details.isEmpty {
            let errors = details.map { property, text in
                CoreDataError.make(
                    NSManagedObjectValidationError, "“\(property)” of “\(plan.entity)” was refused by the service.", reason: text,
                    next: "Change the value and save again.", info: Self.info(cause, [NSValidationKeyErrorKey: property]))
            }
            if errors.count == 1 { return errors[0] }
            return CoreDataError.make(
                NSValidationMultipleErrorsError, "The service refused \(errors.count) values of “\(plan.entity)”.",
                reason: details.map { "\($0.property): \($0.text)" }.joined(separator: " "), next: "Change the values and save again.",
                info: Self.info(cause, [NSDetailedErrorsKey: errors]))
        }
        if cause.needsCredentials {
            return CoreDataError.make(
                CredentialsExpiredError, "The service does not take the credentials for “\(plan.entity)”.", reason: "\(cause)",
                next: "Sign in again.", info: Self.info(cause))
        }
        let place = response.headers["Location"].map { words.clean(String($0.prefix { $0 != "?" && $0 != "#" }.prefix(300)), request) }
        let next: String =
            switch response.status {
            case 300..<400: "It leads to \(place ?? "no address"). Compare the address and the paths of the description with that."
            case 403: "Ask for the right to do this, or use other credentials."
            case 404: "Compare the paths of the description with the service's."
            case 429: "Wait, or ask for less."
            case 500...: "Try again later."
            default: "Compare the description with what the service expects."
            }
        // What was redirected may have been done.
        let refusal = (300..<400).contains(response.status) ? "The service redirects" : "The service refused"
        return CoreDataError.make(
            isSave ? NSPersistentStoreSaveError : NSPersistentStoreOperationError,
            isSave ? "\(refusal) a change of “\(plan.entity)”." : "The service refused to answer for “\(plan.entity)”.",
            reason: "\(cause)", next: next, info: Self.info(cause))
    }

    /// Returns the error of an answer that is none to the request: the service does not take the credentials, or something else has answered with a page for
    /// people, a network before the service perhaps. Nil for any other.
    func stray(_ response: WebResponse, to request: WebRequest, isSave: Bool) -> NSError? {
        if response.refusesCredentials() { return error(response, to: request, isSave: isSave) }
        let isElsewhere = response.redirectedTo.map { Self.lastPart($0) != Self.lastPart(request.url) } ?? false
        guard (200..<300).contains(response.status) && response.isPage || isElsewhere && [404, 405, 410].contains(response.status) else {
            return nil
        }
        var cause = WebServiceError(status: response.status, message: response.isPage ? "a page of HTML" : "", request: words.name(request))
        cause.isStray = true
        let place = response.redirectedTo.map { " at \($0.prefix { $0 != "?" })" } ?? ""
        return CoreDataError.make(
            isSave ? NSPersistentStoreSaveError : NSPersistentStoreOperationError, "The answer to \(request.label) cannot be read.",
            reason: "It is \(response.isPage ? "a page" : "the status \(response.status)")\(place), where JSON should be.",
            next:
                "See whether the network or the service wants somebody to sign in; compare the description with what the service answers.",
            info: Self.info(cause))
    }

    /// What an address ends with: of a resource its identifier.
    private static func lastPart(_ url: String) -> Substring? { url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last }

    /// The cause as it is: as an `NSError` it would not say any more, off Apple's platforms, whether trying again may help.
    private static func info(_ cause: WebServiceError, _ more: [String: Any] = [:]) -> [String: Any] {
        more.merging([NSUnderlyingErrorKey: cause]) { first, _ in first }
    }

    /// What an answer is, by its status and by what it says of errors.
    enum Outcome {
        case resources
        /// There is no such resource, or no such page.
        case nothing
        case failure
    }

    /// Returns what the answer to a call is.
    func outcome(_ response: WebResponse, _ request: BackendRequest, _ call: CallPlan) -> Outcome {
        let guess = request.guessedPage(call)
        switch response.status {
        case 200..<300:
            // Some services answer that all is well, and write the error into the body.
            let (isFailure, isMissing) = failure(response)
            if isMissing { return .nothing }
            guard isFailure else { return .resources }
            return guess?.endsRefused ?? false ? .nothing : .failure
        case 404 where call.call.returns == .one, 410 where call.call.returns == .one: return .nothing
        case let status: return guess?.isMissing(at: status) ?? false ? .nothing : .failure
        }
    }

    /// Whether an answer of success says that it is an error, and whether it says that there is no such resource.
    func failure(_ response: WebResponse) -> (isFailure: Bool, isMissing: Bool) {
        let style = plan.style.errors
        guard let flag = style.flag, response.body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
            let body = try? JSONValue(parsing: response.body), let value = body.value(at: flag), !value.isNull, value.bool != false
        else { return (false, false) }
        let text = message(body) ?? ""
        return (true, style.missing.contains { text.hasPrefix($0) })
    }

    /// Whether an answer of the status 200 has a message where errors have theirs. Of one that is no resource that may be all it says of an error.
    func speaks(_ response: WebResponse) -> Bool {
        guard response.status == 200, response.body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return false }
        return message(try? JSONValue(parsing: response.body)) != nil
    }

    /// Whether the description says itself where messages stand.
    var isDescribed: Bool { plan.style.errors != ErrorStyle() }

    /// Returns the error of a change that was answered with success, and that the service has not made.
    ///
    /// - Parameter names: The properties that are as they were.
    func untaken(_ response: WebResponse, to request: WebRequest, _ names: [String]) -> NSError {
        if speaks(response) { return error(response, to: request, isSave: true) }
        var cause = WebServiceError(status: response.status, message: "", request: words.name(request))
        cause.body = words.excerpt(response.body, request)
        let what = names.isEmpty ? "it" : "“\(names.joined(separator: "”, “"))”"
        return CoreDataError.make(
            NSPersistentStoreSaveError, "The service has not made a change of “\(plan.entity)”.",
            reason: "\(cause). Read afterwards, \(what) is as before.",
            next: "See whether the service lets it be changed, and how it says that it does not; describe that as errors.",
            info: Self.info(cause, UnseenChange.info))
    }

    private func message(_ body: JSONValue?) -> String? {
        guard let body else { return nil }
        for path in plan.style.errors.messages {
            if let text = body.value(at: path)?.string { return text }
        }
        if let list = plan.style.errors.list, let errors = body.value(at: list)?.array {
            let texts = errors.compactMap { $0.value(at: plan.style.errors.detail)?.string }
            if !texts.isEmpty { return texts.joined(separator: " ") }
        }
        return nil
    }

    private func details(_ body: JSONValue?) -> [(property: String, text: String)] {
        guard let body else { return [] }
        let style = plan.style.errors
        var found: [(property: String, text: String)] = []
        if let list = style.list, let pointer = style.pointer {
            for error in body.value(at: list)?.array ?? [] {
                guard let text = error.value(at: pointer)?.string, let property = property(text) else { continue }
                found.append((property, error.value(at: style.detail)?.string ?? ""))
            }
        }
        if style.isByField, let object = body.object {
            for member in object {
                guard let property = property(member.key) else { continue }
                let texts =
                    member.value.array?.compactMap { $0.string ?? $0.description } ?? [member.value.string ?? member.value.description]
                found.append((property, texts.joined(separator: " ")))
            }
        }
        return found
    }

    /// Returns the property that a name or pointer of the service means.
    private func property(_ text: String) -> String? {
        let path = JSONPath(text.hasPrefix("#/") ? String(text.dropFirst()) : text)
        var candidates: [(name: String, length: Int)] = []
        for plan in plan.properties.values {
            guard let own = plan.path else { continue }
            if path.steps == own.steps || path.steps.ends(with: own.steps) || path.description == plan.queryName {
                candidates.append((plan.name, own.steps.count))
            } else if case .key(let last)? = path.steps.last, last == plan.queryName {
                candidates.append((plan.name, 0))
            } else if own.steps.count < path.steps.count, path.steps.contains(own.steps) {
                // Something within the value.
                candidates.append((plan.name, 0))
            }
        }
        return candidates.max { ($0.length, $1.name) < ($1.length, $0.name) }?.name
    }
}

extension Array where Element: Equatable {
    /// Whether the last elements are those of another array.
    func ends(with other: [Element]) -> Bool { count >= other.count && Array(suffix(other.count)) == other }
}
