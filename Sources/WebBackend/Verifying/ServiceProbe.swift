internal import Foundation
internal import JSONReading
internal import RemoteStore
internal import WebTransport

/// Sends the requests of checks, within a maximum number of requests.
final class ServiceProbe {
    let backend: WebBackend
    private let limit: Int
    private(set) var count = 0

    /// There are no requests left.
    struct OutOfRequests: Error {}

    /// A request cannot be written, for example because the style cannot express a value.
    struct Unwritable: Error { let reason: String }

    /// The service has refused a request, or its answer cannot be read.
    struct Refusal: Error {
        let request: String
        let status: Int
        let error: NSError

        /// Whether the service was busy or unavailable, which says nothing about the description.
        var mayPass: Bool { [408, 425, 429, 503].contains(status) }
    }

    init(_ backend: WebBackend, limit: Int) { (self.backend, self.limit) = (backend, limit) }

    /// Sends a request unchanged.
    ///
    /// - Throws: ``OutOfRequests``; `TransportError` if there was no answer.
    func send(_ request: WebRequest) async throws -> WebResponse {
        try Task.checkCancellation()
        guard count < limit else { throw OutOfRequests() }
        count += 1
        return try await backend.send(request).response
    }

    /// Sends the request of a call, and reads its answer.
    ///
    /// - Parameter headers: Headers in addition to those of each request.
    /// - Throws: ``OutOfRequests``; ``Unwritable``; ``Refusal``; `TransportError` if there was no answer.
    func ask(
        _ request: BackendRequest, _ plan: ResourcePlan, _ call: CallPlan, headers: [String: String] = [:]
    ) async throws -> ProbeAnswer {
        var web: WebRequest
        do { web = try RequestBuilder(backend.service).request(request, plan, call) } catch {
            throw Unwritable(reason: (error as NSError).localizedDescription)
        }
        for (name, value) in headers { web.headers[name] = value }
        let response = try await send(web)
        let shown = show(web)
        var answer = ProbeAnswer(request: shown, response: response)
        if response.status == 304 { return answer }
        do {
            let errors = ErrorReader(plan: plan, words: ServiceWords(backend.client))
            switch errors.outcome(response, request, call) {
            case .resources: break
            case .nothing: return answer
            case .failure: throw errors.error(response, to: web, isSave: false)
            }
            var reader = backend.reader(plan, call)
            // The checks themselves look for such forms.
            reader.checksForms = false
            let read = try reader.read(response, to: request, at: web.url)
            answer.take(read, plan, call)
            return answer
        } catch { throw Refusal(request: shown, status: response.status, error: error as NSError) }
    }

    /// Returns method and address of a request without secrets.
    func show(_ request: WebRequest) -> String { "\(request.method.rawValue) \(backend.client.removingSecrets(from: request.url))" }

    /// Reads pages of a list until the last one, or until a number of resources or pages.
    ///
    /// - Throws: As ``ask(_:_:_:headers:)``.
    func read(
        _ request: BackendRequest, _ plan: ResourcePlan, _ call: CallPlan, resources: Int, pages: Int = .max
    ) async throws -> ListReading {
        var reading = ListReading(call: call)
        var request = request
        var visited: Set<PageToken> = []
        while true {
            let answer = try await ask(request, plan, call)
            reading.pages.append(answer)
            guard let next = answer.next else {
                reading.end = .last
                return reading
            }
            reading.lastToken = next
            guard visited.insert(next).inserted else {
                reading.end = .repeated
                return reading
            }
            guard reading.count < resources, reading.pages.count < pages else {
                reading.end = .stopped
                return reading
            }
            request.page = next
        }
    }
}

/// An answer to a sample request, with the resources as the store would receive them, and as the service has sent them.
struct ProbeAnswer {
    /// The request, without secrets.
    let request: String
    let response: WebResponse
    /// The requested resources; empty if there is no such resource.
    private(set) var resources: [TrialResource] = []
    private(set) var embedded: [TrialResource] = []
    /// The resources as JSON.
    private(set) var items: [JSONValue] = []
    private(set) var unreadable: [any Error] = []
    private(set) var total: Int?
    private(set) var next: PageToken?
    /// The whole body; nil for none.
    private(set) var body: JSONValue?

    init(request: String, response: WebResponse) { (self.request, self.response) = (request, response) }

    fileprivate mutating func take(_ answer: BackendAnswer, _ plan: ResourcePlan, _ call: CallPlan) {
        resources = answer.trialResources
        embedded = answer.trialEmbedded
        unreadable = answer.unreadable
        (total, next) = (answer.total, answer.next)
        body = try? JSONValue(parsing: response.body)
        let envelope = plan.style.envelope
        let path = call.call.items ?? (call.call.returns == .one ? envelope.item : envelope.items)
        switch body?.value(at: path) {
        case .array(let elements)?:
            let isList = call.call.returns == .list && !envelope.element.isEmpty
            items = isList ? elements.compactMap { $0.value(at: envelope.element) } : elements
        case .object(let object)? where call.call.returns == .map: items = object.members.map(\.value)
        case .object(let object)?: items = [.object(object)]
        default: items = []
        }
    }
}

/// The result of reading a list.
struct ListReading {
    /// The reasons why reading has ended.
    enum End {
        /// The service has announced that this is the last page.
        case last
        /// The requested number was reached.
        case stopped
        /// A page names one that was read before.
        case repeated
    }

    let call: CallPlan
    var pages: [ProbeAnswer] = []
    var end = End.stopped
    /// The last token in an answer; for a list that was read to its end, the token of its last page.
    var lastToken: PageToken?

    init(call: CallPlan) { self.call = call }

    var resources: [TrialResource] { pages.flatMap(\.resources) }
    var items: [JSONValue] { pages.flatMap(\.items) }
    var count: Int { pages.reduce(0) { $0 + $1.resources.count } }
    /// The identifiers, each once.
    var ids: Set<ResourceID> { Set(resources.map(\.id)) }
    /// Whether the list is complete, as far as the service tells.
    var isWhole: Bool { end == .last }
    var total: Int? { pages.first?.total }
    /// The first request.
    var request: String { pages.first?.request ?? "" }
}
