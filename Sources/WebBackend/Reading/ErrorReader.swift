public import Foundation
internal import JSONReading
internal import ObjectGraph
public import RemoteStore
internal import WebTransport

/// The error in a service's answer: the underlying error of those that fetches and saves throw.
public struct WebServiceError: LocalizedError, Sendable, CustomStringConvertible {
    /// The status of the answer.
    public let status: Int
    /// The service's message, at most a few hundred characters; empty if the answer has none where the description expects it.
    public let message: String
    /// The request, without credentials.
    public let request: String
    /// The beginning of the answer's body, at most two kilobytes, without secrets: those of the client and of the request are removed in every form in
    /// which the service repeats them.
    public internal(set) var body = ""
    /// The time after which the service accepts another attempt; nil if it has told none.
    public var retryAfter: Duration?
    /// Whether the service refuses the credentials, or no longer accepts them. The status, the content of the answer, or a login page tells that.
    public internal(set) var needsCredentials = false

    /// Whether the answer may come from something other than the service, such as a network with a login page.
    var isStray = false

    /// The request, the status and the message on one line. Without a message, the body takes its place.
    public var description: String {
        let words = message.isEmpty ? body.split(whereSeparator: \.isWhitespace).joined(separator: " ") : message
        return "\(request) was answered with \(status)\(words.isEmpty ? "" : ": \(words)")"
    }
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension WebServiceError: PassingError {
    /// Whether a retry may help: the service is busy, has an internal failure, or was not reached.
    public var mayPass: Bool {
        isStray || status == 408 || status == 425 || status == 429 || status >= 500 && status != 501 && status != 505
    }
    /// Whether the service has processed the change: see ``settlesEarlierAttempts(_:)``.
    public var settlesEarlierAttempts: Bool { !needsCredentials && !isStray && Self.settlesEarlierAttempts(status) }

    /// Returns whether an answer to a change settles the outcome of its earlier attempts. A conflict may be with an earlier attempt of the same change.
    /// A change that is refused temporarily, or for its credentials, was not processed.
    static func settlesEarlierAttempts(_ status: Int) -> Bool {
        // A redirect has not processed it.
        status < 500 && !(300..<400).contains(status) && ![401, 403, 407, 408, 409, 412, 419, 423, 425, 429].contains(status)
    }
}

/// Removes secrets from a service's texts, which may repeat parts of the request.
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
    ///   - request: The request, whose secrets the answer may repeat.
    ///   - isSave: Whether the request was a change: messages about properties then become validation errors.
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
        // A redirected change may have been made.
        let refusal = (300..<400).contains(response.status) ? "The service redirects" : "The service refused"
        return CoreDataError.make(
            isSave ? NSPersistentStoreSaveError : NSPersistentStoreOperationError,
            isSave ? "\(refusal) a change of “\(plan.entity)”." : "The service refused to answer for “\(plan.entity)”.",
            reason: "\(cause)", next: next, info: Self.info(cause))
    }

    /// Returns the error of an answer that is not a response to the request: the service refuses the credentials, or something else, such as a network
    /// in front of the service, has answered with an HTML page. Nil for any other answer.
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

    /// Returns the last part of an address: of a resource, its identifier.
    private static func lastPart(_ url: String) -> Substring? { url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last }

    /// The cause, unconverted: outside of Apple's platforms, an `NSError` would lose the information whether a retry may help.
    private static func info(_ cause: WebServiceError, _ more: [String: Any] = [:]) -> [String: Any] {
        more.merging([NSUnderlyingErrorKey: cause]) { first, _ in first }
    }

    /// The result of an answer, by its status and its error message.
    enum Outcome {
        case resources
        /// There is no such resource, or no such page.
        case nothing
        case failure
    }

    /// Returns the result of an answer to a call.
    func outcome(_ response: WebResponse, _ request: BackendRequest, _ call: CallPlan) -> Outcome {
        let guess = request.guessedPage(call)
        switch response.status {
        case 200..<300:
            // Some services answer with a success status, and put the error into the body.
            let (isFailure, isMissing) = failure(response)
            if isMissing { return .nothing }
            guard isFailure else { return .resources }
            return guess?.endsRefused ?? false ? .nothing : .failure
        case 404 where call.call.returns == .one, 410 where call.call.returns == .one: return .nothing
        case let status: return guess?.isMissing(at: status) ?? false ? .nothing : .failure
        }
    }

    /// Returns whether an answer with a success status is an error, and whether that means that there is no such resource.
    func failure(_ response: WebResponse) -> (isFailure: Bool, isMissing: Bool) {
        let style = plan.style.errors
        guard let flag = style.flag, response.body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
            let body = try? JSONValue(parsing: response.body), let value = body.value(at: flag), !value.isNull, value.bool != false
        else { return (false, false) }
        let text = message(body) ?? ""
        return (true, style.missing.contains { text.hasPrefix($0) })
    }

    /// Returns whether an answer with the status 200 has an error message. If the answer is not a resource, the message may be its only sign of an
    /// error.
    func speaks(_ response: WebResponse) -> Bool {
        guard response.status == 200, response.body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return false }
        return message(try? JSONValue(parsing: response.body)) != nil
    }

    /// Whether the description has its own places for messages.
    var isDescribed: Bool { plan.style.errors != ErrorStyle() }

    /// Returns the error of a change that the service has answered with success and has not made.
    ///
    /// - Parameter names: The properties that have not changed.
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

    /// Returns the property for a name or pointer of the service.
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
                // A place within the value.
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
