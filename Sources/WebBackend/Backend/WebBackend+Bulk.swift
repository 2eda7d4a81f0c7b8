internal import Foundation
internal import JSONReading
internal import ObjectGraph
public import RemoteStore
internal import WebTransport

extension WebBackend {
    /// Deletes everything that a list finds, for services that delete a list with one request. A service that divides the list into pages deletes page
    /// by page.
    public func execute(_ request: BulkRequest) async throws -> BulkAnswer {
        guard let plan = service.plans[request.entity], request.kind == .delete, let list = plan.deletableList else {
            throw WebBackendError.unwritable("\(request.kind)", request.entity, "The description has no request for many resources.")
        }
        var web = try RequestBuilder(service).request(request.target, plan, list)
        var deleted: [ResourceReference] = []
        var visited: Set<String> = []
        while true {
            web.method = .delete
            web.label = "\(plan.entity).deleteAll"
            if let name = plan.saving?.idempotencyHeader { web.headers[name] = request.idempotencyKey.uuidString.lowercased() }
            let response: WebResponse
            do { response = try await client.send(web).ofChange } catch {
                if deleted.isEmpty, let error = error as? TransportError, !error.mayHaveArrived { throw error }
                throw UnknownOutcome(error)
            }
            let errors = ErrorReader(plan: plan, words: ServiceWords(client))
            if let error = errors.stray(response, to: web, isSave: true) {
                throw deleted.isEmpty && response.refusesCredentials() ? error : UnknownOutcome(error) as any Error
            }
            guard response.status < 300 else {
                let error = errors.error(response, to: web, isSave: true)
                let isRefused = response.status < 500 && ![300, 302, 303].contains(response.status)
                throw deleted.isEmpty && isRefused ? error : UnknownOutcome(error) as any Error
            }
            let body = try? JSONValue(parsing: response.body)
            let values = ResourceValues(service: service.plans)
            for item in body?.value(at: list.call.items ?? plan.style.envelope.items)?.array ?? [] {
                if let id = values.identifier(item, plan) { deleted.append(ResourceReference(id)) }
            }
            guard case .address = list.paging.form, let next = text(list.paging.next, response), !next.isEmpty else { break }
            guard let address = service.absolute(next, from: web.url) else { throw WebBackendError.foreign(web.label) }
            guard visited.insert(address).inserted else { break }
            web.url = address
        }
        return BulkAnswer(resources: deleted)
    }
}
