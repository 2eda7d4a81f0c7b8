public import Foundation
internal import JSONReading
public import ObjectGraph
public import RemoteStore
public import WebTransport

/// A web service as a backend: its description, the model, and what sends its requests.
///
/// ```swift
/// let service = WebService("https://api.example.com/v1", resources: [WebResource("Album", calls: [.list(), .one])])
/// try coordinator.addRemoteStore(WebBackend(service, model: model, transport: transport))
/// ```
///
/// The description is checked when the backend is made. Everything else is up to the store: see `RemoteStore`.
public struct WebBackend: Backend {
    /// The address of the service.
    public let location: URL
    /// The resources, as the description and the model have them.
    public let resources: [Resource]

    let service: ServicePlan
    let shapes: ItemShapes
    let client: any WebClientProtocol
    let limits: JSONLimits
    private let envelopes: [String: EnvelopeShape]
}
