internal import JSONReading
internal import WebTransport

extension FileForms {
    private static let retries = FileForm<RetryPolicy>.either(
        integer(from: 1, to: 1000).map({ RetryPolicy(maximumTries: $0) }) {
            $0 == RetryPolicy(maximumTries: $0.maximumTries) ? $0.maximumTries : nil
        }.expecting("a number of tries"),
        .object("retries", RetryPolicy()) { keys in
            keys.key("tries", \.maximumTries, integer(from: 1, to: 1000), "How often a request is sent at most.")
            keys.key("firstDelay", \.firstDelay, seconds, "The wait before the second try, in seconds.")
            keys.key("maximumDelay", \.maximumDelay, seconds, "The longest wait that the client chooses, in seconds.")
            keys.key("totalSeconds", \.totalSeconds, seconds, "The time for all tries and waits together, in seconds.")
            keys.key("statuses", \.statuses, set(integer(from: 100, to: 599)), "The statuses after which a request is sent again.")
        }.refusing { retries in
            retries.maximumTries > 1 || retries == .never
                ? nil : ("No request is sent again, so that nothing else of “retries” has an effect.", "Write retries: 1, or more tries.")
        })

    private static let redirects = FileForm<RedirectPolicy>.object("redirects", RedirectPolicy()) { keys in
        keys.key("maximum", \.maximum, integer(from: 0, to: 1000), "How many redirects are followed for one request.")
        keys.key("allowsInsecure", \.allowsInsecure, flag, "Whether a redirect from https to http is followed.")
        keys.key("sendsBodiesElsewhere", \.sendsBodiesElsewhere, flag, "Whether a body follows a redirect to another origin.")
    }.refusing { redirects in
        redirects.maximum > 0 || redirects == RedirectPolicy(maximum: 0)
            ? nil
            : ("No redirect is followed, so that nothing else of “redirects” has an effect.", "Write maximum: 0 alone, or a greater one.")
    }

    private static let rate = FileForm<RateLimit>.either(
        integer(from: 1).map({ RateLimit(requests: $0) }) { $0 == RateLimit(requests: $0.requests) ? $0.requests : nil }
            .expecting("a number of requests a second"),
        .object("rate", RateLimit()) { keys in
            keys.optional("requests", \.requests, integer(from: 1), "The number of requests in each interval.")
            keys.key("seconds", \.seconds, seconds, "The interval, in seconds.")
            keys.key("obeysHeaders", \.obeysHeaders, flag, "Whether the client obeys the limits that services name.")
        }.refusing { rate in
            rate.requests != nil || rate.seconds == RateLimit().seconds
                ? nil : ("“seconds” is the interval for a number of requests, and there is none.", "Write “requests”, or remove it.")
        })

    private static let limits = FileForm<FileLimits>.object("limits", FileLimits()) { keys in
        keys.key("connectSeconds", \.limits.connectSeconds, seconds, "The time until a connection must be there, in seconds.")
        keys.key("requestSeconds", \.limits.requestSeconds, seconds, "The time until the whole answer must be there, in seconds.")
        keys.key("maximumBytes", \.limits.maximumBytes, integer(from: 1), "The number of bytes of an answer's body.")
        keys.optional(
            "requestsAtATime", \.requestsPerHost, integer(from: 1), "How many requests to a host are on their way at a time; null for any.")
        keys.key("rate", \.rate, rate, "How many requests are sent in which time: a number a second, or an object.")
        keys.key("retries", \.retries, retries, "Which requests are sent again: a number of tries, or an object.")
        keys.key("redirects", \.redirects, redirects, "Which redirects are followed.")
    }

    /// The keys of a file that a ``WebService`` alone cannot hold.
    static let clientKeys = [
        "authentication", "limits", "origins", "keepsCookies", "secretHeaders", "secretQueryItems",
    ]

    /// A whole file.
    static let file: FileForm<WebServiceFile> = {
        var keys = service.lifted(\WebServiceFile.service)
        keys.isEqual = { $0.service == $1.service }
        keys.opaque("$schema", text, "The schema, for editors.", read: { _, _ in }, write: { _ in nil })
        keys.keys.append(
            FileKey<WebServiceFile>(
                name: "authentication", aliases: [],
                summary: "How the client shows who it is: {bearer: {environment: TOKEN}}. A secret never stands here itself.",
                isRequired: false,
                read: { file, value, context in
                    var context = context
                    context.isConfidential = true
                    file.options.authentication = try authentication.read(value, context, nil)
                },
                write: { file, _, context in
                    if case .none = file.options.authentication { return nil }
                    return try authentication.write(file.options.authentication, context, nil)
                }, schema: authentication.schema))
        keys.key("limits", \.fileLimits, limits, "Times, sizes, rates, retries and redirects.")
        keys.key("origins", \.options.origins, list(text), "Origins to which credentials and headers go besides the address's.")
        keys.key("keepsCookies", \.options.keepsCookies, flag, "Whether cookies that the service sets go back to it.")
        keys.key("secretHeaders", \.options.secretHeaders, set(text), "Further headers whose values are secret.")
        keys.key("secretQueryItems", \.options.secretQueryItems, set(text), "Further items of queries whose values are secret.")
        return .object("file", WebServiceFile(service: WebService("")), keys)
    }()
}

/// The limits of a client, together.
private struct FileLimits: Hashable, Sendable {
    var limits = TransportLimits()
    var retries = RetryPolicy()
    var redirects = RedirectPolicy()
    var rate = RateLimit()
    var requestsPerHost: Int? = 8
}

extension WebServiceFile {
    fileprivate var fileLimits: FileLimits {
        get {
            FileLimits(
                limits: options.limits, retries: options.retries, redirects: options.redirects, rate: options.rateLimit,
                requestsPerHost: options.maximumConcurrentRequestsPerHost)
        }
        set {
            options.limits = newValue.limits
            options.retries = newValue.retries
            options.redirects = newValue.redirects
            options.rateLimit = newValue.rate
            options.maximumConcurrentRequestsPerHost = newValue.requestsPerHost
        }
    }
}
