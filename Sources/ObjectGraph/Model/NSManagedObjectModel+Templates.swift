internal import Foundation
internal import Predicates

extension NSManagedObjectModel {
    /// The fetch request templates by name.
    public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] { templates }

    /// Returns the fetch request template called `name`; nil when there is none. Copy it before changing it.
    public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? { templates[name] }

    /// Sets a fetch request template. Nil removes it. The model must be mutable.
    ///
    /// - Parameters:
    ///   - fetchRequestTemplate: The request; its predicate may have variables, such as `name == $NAME`.
    ///   - name: The name of the template.
    public func setFetchRequestTemplate(_ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String) {
        requireMutable()
        templates[name] = fetchRequestTemplate.map { $0.copy() as! NSFetchRequest<any NSFetchRequestResult> }
    }

    /// Creates a request from a template, with values for the variables of its predicate.
    ///
    /// - Parameters:
    ///   - name: The name of the template.
    ///   - variables: The values by variable name, without the dollar sign; `NSNull` for nil. A variable without a value makes the fetch
    ///     fail with an error that names it.
    /// - Returns: A request to change and execute; nil when there is no template of that name.
    public func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let template = templates[name] else { return nil }
        let request = template.copy() as! NSFetchRequest<any NSFetchRequestResult>
        request.predicate = template.predicate?.withSubstitutionVariables(variables)
        return request
    }
}
