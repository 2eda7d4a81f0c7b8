package import RemoteStore
internal import WebTransport

extension WebBackend {
    /// Returns the requests of a plan, each as its method and address, without credentials.
    ///
    /// If a plan depends on other requests, these are returned instead.
    ///
    /// - Throws: Code 134070 for values that cannot be sent.
    package func requests(of plan: FetchPlan) throws -> [String] {
        if !plan.joins.isEmpty { return try plan.joins.flatMap { try requests(of: $0.plan) } }
        return try plan.requests.compactMap { request in
            guard let resource = service.plans[request.entity], let call = resource.call(request.endpoint) else { return nil }
            let web = try RequestBuilder(service).request(request, resource, call)
            return "\(web.method.rawValue) \(client.removingSecrets(from: web.url))"
        }
    }
}
