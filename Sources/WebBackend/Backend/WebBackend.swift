public import Foundation
internal import JSONReading
public import ObjectGraph
public import RemoteStore
public import WebTransport

/// A web service as a backend: its description, the model, and the client that sends its requests.
///
/// ```swift
/// let service = WebService("https://api.example.com/v1", resources: [WebResource("Album", calls: [.list(), .one])])
/// try coordinator.addRemoteStore(WebBackend(service, model: model, transport: AsyncHTTPClientTransport()))
/// ```
///
/// The description is checked when the backend is made. The store over the backend decides which requests are sent, and what is finished in memory: see
/// `RemoteStore`.
public struct WebBackend: Backend, EarlyPagingBackend {
    /// The address of the service.
    public let location: URL
    /// The resources, as the description and the model have them.
    public let resources: [Resource]
    /// The client that sends the requests, with the credentials.
    public let client: WebClient

    let service: ServicePlan
    let shapes: ItemShapes
    let limits: JSONLimits
    let tracer = WebTracer()
    private let kept = ConditionalAnswers()
    private let envelopes: [String: EnvelopeShape]

    /// The user who is signed in, as the client's options tell: see `WebClient.Options.principal`. Pending changes of other users wait until these sign
    /// in.
    public var principal: String? { client.principal }

    /// Creates the backend of a service.
    ///
    /// - Parameters:
    ///   - service: The description of the service.
    ///   - model: The model whose entities it describes. It cannot be changed afterwards.
    ///   - transport: The transport that sends requests.
    ///   - options: Credentials, retries and limits.
    /// - Throws: Code 134080 naming entity and property, for a description that does not fit the model; `TransportError` for an address that
    ///   cannot be read.
    public init(
        _ service: WebService, model: NSManagedObjectModel, transport: any Transport, options: WebClient.Options = WebClient.Options()
    ) throws {
        let plan = try ServicePlan(service, model)
        try self.init(plan, client: WebClient(baseURL: plan.address, transport: transport, options: options))
    }

    /// Creates the backend of a service over a client that is also used elsewhere.
    ///
    /// - Throws: Code 134080 naming entity and property, for a description that does not fit the model.
    public init(_ service: WebService, model: NSManagedObjectModel, client: WebClient) throws {
        try self.init(try ServicePlan(service, model), client: client)
    }

    private init(_ plan: ServicePlan, client: WebClient) throws {
        guard let location = URL(string: plan.address) else {
            throw WebBackendError.description("the address", "It is no URL.", next: "Write it with http:// or https://, and a host.")
        }
        self.location = location
        self.client = client
        service = plan
        shapes = ItemShapes(plan)
        limits = JSONLimits()
        resources = plan.plans.values.map { $0.resource(unsent: plan.unsent($0)) }.sorted { $0.entity < $1.entity }
        var envelopes: [String: EnvelopeShape] = [:]
        for resource in plan.plans.values {
            for call in resource.calls { envelopes["\(resource.entity).\(call.call.name)"] = EnvelopeShape(resource, call) }
        }
        self.envelopes = envelopes
    }

    /// Sends the request of a call, and reads its answer.
    public func answer(_ request: BackendRequest) async throws -> BackendAnswer { try await answer(request, tellingNext: nil) }

    package func answer(_ request: BackendRequest, tellingNext teller: PageTeller?) async throws -> BackendAnswer {
        guard let plan = service.plans[request.entity], let call = plan.call(request.endpoint) else { return request.answer() }
        if RequestBuilder(service).matchesNothing(request, plan, call) {
            var answer = request.answer()
            answer.total = 0
            return answer
        }
        return try await answer(request, plan, call, tellingNext: teller)
    }

    func answer(
        _ request: BackendRequest, _ plan: ResourcePlan, _ call: CallPlan, tellingNext teller: PageTeller? = nil
    ) async throws -> BackendAnswer {
        let web = try RequestBuilder(service).request(request, plan, call)
        let (asked, known) = kept.conditional(web)
        let (sent, record) = try await send(asked)
        var response = kept.answer(sent, to: web, kept: known)
        if response.status == 304 {
            // No kept answer is valid, so the whole answer is requested.
            response = try await send(web).response
        }
        await teller?.leaveSender()
        do {
            var answer = request.answer()
            let errors = ErrorReader(plan: plan, words: ServiceWords(client))
            if let error = errors.stray(response, to: web, isSave: false) { throw error }
            switch errors.outcome(response, request, call) {
            case .resources: answer = try reader(plan, call).read(response, to: request, at: web.url, tellingNext: teller)
            case .nothing: answer.isComplete = request.guessedPage(call) == nil
            case .failure: throw errors.error(response, to: web, isSave: false)
            }
            note("\(request)", record, rows: answer.count)
            return answer
        } catch {
            if response.status == 200 { kept.forget(web) }
            note("\(request)", record, rows: 0, failure: (error as NSError).localizedDescription)
            throw error
        }
    }

    /// Returns the number of resources in an answer to a call, for benchmarks. The answer is read into rows that belong to no store.
    ///
    /// - Throws: Code 134070 for an answer that cannot be read.
    @_spi(Benchmarks) public func countRows(in body: [UInt8], entity: String, call name: String) throws -> Int {
        guard let plan = service.plans[entity], let call = plan.call(name) else { return 0 }
        let request = BackendRequest(entity: entity, endpoint: name, of: self, model: service.model)
        return try reader(plan, call).read(WebResponse(status: 200, body: body), to: request, at: "").count
    }

    /// Returns the reader of a call's answers.
    func reader(_ plan: ResourcePlan, _ call: CallPlan) -> AnswerReader {
        AnswerReader(
            service: service, shapes: shapes, plan: plan, call: call,
            envelope: envelopes["\(plan.entity).\(call.call.name)"] ?? EnvelopeShape(plan, call), limits: limits)
    }

    /// Sends changes, as the description says.
    public func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        guard let first = changes.first else { return [:] }
        guard let plan = service.plan(of: first.entity), let saving = plan.saving else {
            throw WebBackendError.description("“\(first.entity)”", "It is read-only.", next: "Describe how its changes are saved.")
        }
        let sender = ChangeSender(service, shapes, plan, saving, words: ServiceWords(client)) { plain in
            var request = plain
            request.principal = first.principal
            let (answer, record) = try await send(request, isSave: true)
            let response = answer.ofChange
            let isRefused = response.refusesCredentials()
            note(
                "\(first.kind) of \(first.entity)", record, rows: isRefused ? 0 : changes.count,
                failure: isRefused ? "The credentials are not taken." : nil)
            if record?.mayHaveArrivedBefore == true, isRefused || !WebServiceError.settlesEarlierAttempts(response.status) {
                throw TransportError(
                    .lost, request: request.label,
                    detail: "An earlier try may have arrived. The last answer has the status \(response.status).")
            }
            return response
        }
        return try await sender.save(changes)
    }
}
