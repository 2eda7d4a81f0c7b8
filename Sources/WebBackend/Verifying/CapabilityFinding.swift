/// A difference between a service and its description, such as an ignored filter or a wrong order.
public struct CapabilityFinding: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of claims in a description.
    public enum Capability: String, Hashable, Sendable, CaseIterable {
        /// A filter finds what it should, and nothing else.
        case filter
        /// An order is the requested one.
        case order
        /// The number of resources is right.
        case count
        /// Pages have the requested size, and together return every resource once.
        case paging
        /// The call can be sent, and its answer can be read.
        case call
        /// Answers have the described properties, in the described form.
        case value
        /// A resource that is read alone is the requested one, with the values in the list.
        case one
        /// Versions exist, and change exactly when the resource does.
        case version
        /// References lead to resources, and both ends of a relationship agree.
        case relationship
        /// Included resources are the same as when they are read themselves.
        case embedding
        /// Answers have exactly the requested properties.
        case fields
        /// The feed of changes reports exactly the changes since a token.
        case changes
    }

    /// The claim that is false, by its kind.
    public let capability: Capability
    /// The name of the check.
    public let check: String
    /// The entity.
    public let entity: String
    /// The call.
    public let call: String
    /// The object of the check: `year >= 1969`, `title descending`, `price`.
    public let asked: String
    /// The place of the claim in the description, with its text: `style.filters.equal: {name}={value}`.
    public let claim: String
    /// The observation.
    public let seen: String
    /// A request that shows it, as method and address without secrets.
    public let request: String
    /// The advice on how to correct it.
    public let advice: String

    /// The object of the check and the observation, followed by lines with the claim, a request that shows it, and the advice.
    public var description: String {
        """
        \(entity).\(call): \(capability.rawValue) “\(asked)”: \(seen)
          claimed by \(claim)
          seen by \(request)
          \(advice)
        """
    }

    /// The common part of findings that say the same about several resources.
    struct Topic: Hashable {
        let check: String
        let entity: String
        let call: String
        let asked: String
        let capability: Capability
    }

    var topic: Topic { Topic(check: check, entity: entity, call: call, asked: asked, capability: capability) }
}
