internal import Foundation
internal import Predicates

extension NSManagedObjectModel {
    /// The request templates by their names.
    public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] { templates }

    /// The request template called `name`; nil when there is none. Copy it before changing it.
    public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? { templates[name] }

    /// Keeps a request under a name. Nil takes the template out. A model in use cannot be changed.
    ///
    /// - Parameters:
    ///   - fetchRequestTemplate: the request; its predicate may have variables, such as `name == $NAME`.
    ///   - name: the name to find it by.
    public func setFetchRequestTemplate(_ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String) {
        requireMutable()
        templates[name] = fetchRequestTemplate.map { $0.copy() as! NSFetchRequest<any NSFetchRequestResult> }
    }

    /// A request made of a template, with values for the variables of its predicate.
    ///
    /// - Parameters:
    ///   - name: the name of the template.
    ///   - variables: the values by the variables' names, without their dollar signs; `NSNull` for nil. A variable without a value makes the
    ///     fetch fail with an error that names it.
    /// - Returns: a request that may be changed and executed; nil when there is no template of that name.
    public func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let template = templates[name] else { return nil }
        let request = template.copy() as! NSFetchRequest<any NSFetchRequestResult>
        request.predicate = template.predicate?.withSubstitutionVariables(variables)
        return request
    }
}
