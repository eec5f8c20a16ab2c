export {
  CheckField,
  FormButton,
  type IOption,
  SecretField,
  Segments,
  SelectField,
  TextField
} from './fields';
