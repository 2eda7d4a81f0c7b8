internal import Logging
internal import Platform

/// One request of a client on its way: its tries, redirects and waits.
struct Delivery {
    let client: WebClient
    let request: WebRequest
    /// The address of the request, which is read once.
    private let address: WebAddress
    /// Whether the client's credentials go along.
    let authenticates: Bool
    let followsRedirects: Bool
    var record: RequestRecord
    /// What sends each try; nil for the client's transport.
    private let exchange: WebClient.Exchange?
    /// When all tries and waits must be over, in the client's seconds. Waits for other requests of the client do not count.
    private var deadline: Double
    /// With which credentials the last try was sent.
    private var generations: Authenticators.Generations?
    /// What has added them, and whose they are.
    private var authenticators: Authenticators
    private var principal: String?
    private var lastRequest: WebRequest

    private var options: WebClient.Options { client.options }
    private var now: Double { options.time.seconds() }
    private var summary: String { client.secrets.summary(request) }

    init(
        client: WebClient, request: WebRequest, at address: WebAddress, authenticates: Bool, followsRedirects: Bool, record: RequestRecord,
        through exchange: WebClient.Exchange? = nil, with authenticators: Authenticators? = nil
    ) {
        self.exchange = exchange
        self.client = client
        self.request = request
        self.address = address
        self.authenticates = authenticates
        self.followsRedirects = followsRedirects
        self.record = record
        deadline = client.options.time.seconds() + client.options.retries.totalSeconds
        lastRequest = request
        principal = client.principal
        self.authenticators = authenticators ?? client.authenticators(of: principal)
    }

    /// What authenticators may use.
    private var context: AuthenticationContext {
        AuthenticationContext(
            send: { [client, authenticators] request, followsRedirects in
                do {
                    // What it gets, a cookie perhaps, is for the same user.
                    return try await client.send(
                        request, authenticates: false, followsRedirects: followsRedirects, with: authenticators)
                } catch let error as TransportError {
                    // The request for credentials may have arrived; the one that they are for was not sent.
                    throw TransportError(
                        .unauthorized, request: error.request, detail: "\(error.kind.rawValue) \(error.detail)",
                        isTemporary: error.isOfNetwork || error.isTemporary)
                }
            }, secrets: client.secrets, cookies: authenticators.cookies, seconds: options.time.seconds,
            isOwn: { [client] in client.isOwn($0) })
    }

    /// Sends the request until there is an answer that is to be returned.
    mutating func send() async throws -> WebResponse {
        var number = 0
        var renewed: Set<Int> = []
        while true {
            number += 1
            record.tries += 1
            let wait: Double
            let reason: String
            do {
                let response = try await follow()
                if let generations, client.principal == principal,
                    try await authenticators.renew(
                        after: response, to: lastRequest, generations: generations, renewed: &renewed, in: context)
                {
                    if client.principal != principal { client.forgetCredentials(of: principal) }
                    // The credentials were no longer taken: the service has done nothing.
                    number -= 1
                    continue
                }
                guard number < options.retries.maximumTries, options.retries.repeats(request, after: response.status) else {
                    return response
                }
                let asked = response.headers["Retry-After"].flatMap {
                    RetryPolicy.delay(retryAfter: $0, now: options.time.secondsSince1970())
                }
                let chosen = options.retries.delay(afterTry: number, random: options.time.random())
                // Clients that were all told the same moment do not all come at it.
                wait = asked.map { $0 + chosen / 10 } ?? chosen
                guard now + wait < deadline else { return response }
                // With these two, a service says that it has done nothing.
                if ![429, 503].contains(response.status) { record.mayHaveArrivedBefore = true }
                reason = "The status was \(response.status)."
            } catch let error as TransportError {
                wait = options.retries.delay(afterTry: number, random: options.time.random())
                guard number < options.retries.maximumTries, options.retries.repeats(request, after: error), now + wait < deadline else {
                    throw afterAll(error)
                }
                if error.mayHaveArrived { record.mayHaveArrivedBefore = true }
                reason = error.kind.rawValue
            }
            let seconds = (wait * 1000).rounded() / 1000
            options.logger.notice("\(summary) is sent again in \(seconds) s (try \(number + 1)). \(reason)")
            record.secondsWaiting += wait
            try await options.time.sleep(wait)
        }
    }

    /// Returns the error of the last try as that of the request: it may have arrived if any try may.
    private func afterAll(_ error: TransportError) -> TransportError {
        // A redirect that is not followed says nothing of earlier tries either.
        guard record.mayHaveArrivedBefore, !error.mayHaveArrived || error.kind == .redirected else { return error }
        return TransportError(
            .lost, request: error.request,
            detail: "An earlier try may have arrived. The last one did not: \(error.kind.rawValue) \(error.detail)")
    }

    /// Sends the request once and follows the redirects that come.
    private mutating func follow() async throws -> WebResponse {
        var current = request
        let isOwn = client.isOwn(address)
        for field in options.headers.fields
        where current.headers[field.name] == nil && (isOwn || RedirectPolicy.harmlessHeaders.contains(field.name.lowercased())) {
            current.headers.add(field.name, field.value)
        }
        var visited: Set<String> = []
        var turnedToGet: Int?
        generations = nil
        for hop in 0... {
            let cookieChanges = authenticators.cookies?.changes ?? 0
            let place = (method: current.method.rawValue, url: current.url)
            func isNew() -> Bool { visited.insert("\(place.method) \(cookieChanges) \(place.url)").inserted }
            guard hop == 0 || isNew() else { throw TransportError(.redirected, request: summary, detail: "They lead in a circle.") }
            var response = try await sendOnce(&current)
            if hop > 0 { (response.redirectedTo, response.turnedToGet) = (client.secrets.remove(fromURL: current.url), turnedToGet) }
            // Whoever has credentials does not want the page on which people sign in: the answer says that they are not taken.
            if generations?.isEmpty == false, response.leadsToSignIn, !SignInAddress.isOne(current.url) { return response }
            guard followsRedirects, let next = try options.redirects.next(after: response, to: current, summary: summary) else {
                return response
            }
            // Most requests are not redirected: only then is it noted where they were sent.
            if hop == 0 { _ = isNew() }
            guard hop < options.redirects.maximum else {
                throw TransportError(.redirected, request: summary, detail: "There are more than \(options.redirects.maximum).")
            }
            if next.method != current.method { turnedToGet = turnedToGet ?? response.status }
            current = try withoutCredentials(next)
            record.redirects += 1
        }
        throw TransportError(.redirected, request: summary)
    }

    /// Returns the request to which a redirect leads, without the credential that its address may repeat.
    private func withoutCredentials(_ next: WebRequest) throws -> WebRequest {
        guard !client.isOwn(next.url) else { return next }
        var result = next
        result.url = CredentialAuthenticator.removing(client.queryNames.union(options.secretQueryItems), from: next.url)
        guard !client.secrets.occur(in: result.url) else {
            throw TransportError(.redirected, request: summary, detail: "One leads with a credential to another origin.")
        }
        return result
    }

    /// Sends a request once, with credentials if they may go there.
    ///
    /// - Parameter message: The request, from which headers are removed that may not go where it does.
    private mutating func sendOnce(_ message: inout WebRequest) async throws -> WebResponse {
        let address: WebAddress
        do {
            address = message.url == request.url ? self.address : try WebAddress(message.url)
        } catch {
            throw TransportError(.invalid, request: summary, detail: error.rawValue)
        }
        let origin = address.origin
        let isOwn = client.isOwn(origin: origin)
        if !isOwn, authenticates {
            message.headers.fields.removeAll { !RedirectPolicy.harmlessHeaders.contains($0.name.lowercased()) }
        }
        // Credentials that must be fetched are so before the request takes a place: fetching them needs one, too.
        var outgoing = message
        lastRequest = message
        generations = isOwn && authenticates ? try await authorize(&outgoing) : nil
        try await waitForTurn(origin)
        let before = now
        try await client.gate.enter(origin)
        defer { client.gate.leave(origin) }
        deadline += now - before
        // What the program's traces carry along is for its own services.
        if isOwn || !authenticates { Telemetry.propagate(to: &outgoing) }
        if isOwn, authenticates {
            try await authenticators.sign(&outgoing, in: context)
            // It has waited for its turn since it got its credentials.
            guard message.principal == nil || message.principal == client.principal else { throw otherUser }
        } else if !authenticates {
            authenticators.cookies?.add(to: &outgoing, secondsNow: now)
        }
        client.secrets.add(of: outgoing, headers: client.secretHeaders)
        var limits = options.limits
        limits.requestSeconds = max(0.001, min(limits.requestSeconds, deadline - now))
        let notes = RequestNotes(client: ObjectIdentifier(client.secrets)) { [secrets = client.secrets] text in secrets.remove(from: text) }
        record.bytesSent += outgoing.body?.count ?? 0
        let response = try await RequestNotes.$current.withValue(notes) {
            if let exchange { return try await exchange(outgoing, limits) }
            return try await client.transport.send(outgoing, limits: limits)
        }
        record.bytesReceived += response.body.count
        record.secondsToFirstByte = notes.secondsToFirstByte.withLock { $0 }
        let dateNow = options.time.secondsSince1970()
        client.limiter.note(response, from: origin, now: now, dateNow: dateNow)
        if isOwn || !authenticates {
            authenticators.cookies?.store(
                from: response, to: message.url, secrets: client.secrets, secondsNow: now, dateNow: dateNow)
        }
        return response
    }

    /// Adds the credentials of the user who is signed in.
    ///
    /// - Throws: ``TransportError`` of the kind ``TransportError/Kind/unauthorized``, where the request is another user's.
    private mutating func authorize(_ outgoing: inout WebRequest) async throws -> Authenticators.Generations {
        let bare = outgoing
        for _ in 0..<3 {
            principal = client.principal
            guard bare.principal == nil || bare.principal == principal else { throw otherUser }
            authenticators = client.authenticators(of: principal)
            outgoing = bare
            let generations = try await authenticators.authorize(&outgoing, in: context)
            if client.principal == principal { return generations }
            // What was read may be somebody else's.
            client.forgetCredentials(of: principal)
        }
        throw otherUser
    }

    private var otherUser: TransportError { TransportError(.unauthorized, request: summary, detail: "Another user has signed in.") }

    /// Waits until the request may go by the limits of its rate.
    private mutating func waitForTurn(_ origin: String) async throws {
        while true {
            // How long the service wants no requests counts for the time of this one; how many the client sends in a time does not.
            let blocked = client.limiter.blockedUntil(origin) - now
            guard blocked > 0 else { break }
            guard now + blocked < deadline else {
                throw TransportError(.rateLimited, request: summary, detail: "It does again in \(Int(blocked.rounded(.up))) s.")
            }
            record.secondsWaiting += blocked
            try await options.time.sleep(blocked)
        }
        let wait = client.limiter.reserve(origin, now: now) - now
        guard wait > 0 else { return }
        record.secondsWaiting += wait
        deadline += wait
        try await options.time.sleep(wait)
    }
}
